"""The documents that compete for the top of each query's ranking: what terms of documents are learned from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array, Flags, Index, Vectors
from offsphere.geometry.evidence import Evidence
from offsphere.ranking.pairs_by_query import PairsByQuery, pairs_of
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE, DOT
from offsphere.vectors.lengths import are_equal, lengths

NEAR = {"cosine": 40, "dot": 15}  # rivals from the top of each ranking: what is long must be seen to lose, too
POPULAR = 20  # documents that most queries want, which are rivals everywhere
AT_RANDOM = 40  # of the rest, which stand for all of it
MOST_WANTED = 50  # relevant documents of one query
PAIRS_AT_ONCE = 8_192  # whose vectors are read at a time


@dataclass(frozen=True, slots=True, eq=False)
class RivalLists:
    """A row a query: documents (-1 where the row is shorter), their cosines, and which of them are wanted.

    Those drawn at random stand for all documents that are in no other part of the list: the logarithm of how many each
    stands for is added to its score, so that a softmax over the list is one over the corpus.
    """

    documents: Index  # (queries, rivals)
    cosines: Array  # (queries, rivals)
    wanted: Flags  # (queries, rivals)
    stands_for: Array  # (queries, rivals): logarithms

    @property
    def present(self) -> Flags:
        """Which entries hold a document."""
        return self.documents >= 0

    def only(self, rows: Index) -> RivalLists:
        """The lists of some queries."""
        return RivalLists(self.documents[rows], self.cosines[rows], self.wanted[rows], self.stands_for[rows])


def rival_lists(evidence: Evidence, rows: Index) -> RivalLists:
    """Collect the rivals of some queries of a ranking task.

    Args:
        evidence: The task and its vectors.
        rows: Numbers of the queries.

    Returns:
        Lists of what is near by cosine and by dot product, what is popular, what the query wants and some of the rest;
        without what it must not get.
    """
    assert evidence.embedded is not None
    task, vectors = evidence.embedded
    queries, documents = vectors.sides
    count = len(documents)
    scorers = {"cosine": Scorer(COSINE)}
    if not are_equal(evidence.scans[-1].lengths):
        scorers["dot"] = Scorer(DOT)
    excluded = task.excluded_pairs()
    near = evidence.nearest(queries[rows], scorers, min(max(NEAR.values()), count), pairs_of(excluded, rows))
    popular = np.argsort(-np.bincount(task.positives()[1], minlength=count), kind="stable")[:POPULAR]
    wanted, withheld = (PairsByQuery.of(pairs, task.units, count) for pairs in (task.positives(), excluded))
    rng = np.random.default_rng(evidence.seed)
    lists, stand_for = [], []
    for number, row in enumerate(rows.tolist()):
        refused = withheld.of_query(row)
        close = [ranked[number][ranked[number] >= 0][: NEAR[name]] for name, ranked in near.items()]
        own = wanted.of_query(row)[:MOST_WANTED]
        listed = np.unique(np.concatenate([own, *close, np.setdiff1d(popular, refused)]))
        drawn = np.setdiff1d(rng.integers(count, size=AT_RANDOM), np.concatenate([listed, refused]))
        each = np.log(max((count - len(listed) - len(refused)) / max(len(drawn), 1), 1.0))
        lists.append(np.concatenate([listed, drawn]))
        stand_for.append(np.concatenate([np.zeros(len(listed)), np.full(len(drawn), each)]))
    width = max(map(len, lists))
    entries = np.stack([np.pad(each, (0, width - len(each)), constant_values=-1) for each in lists])
    return RivalLists(
        entries,
        _cosines(queries, documents, rows, entries),
        np.stack([np.isin(each, wanted.of_query(row)) for each, row in zip(entries, rows.tolist(), strict=True)]),
        np.stack([np.pad(each, (0, width - len(each))) for each in stand_for]),
    )


def _cosines(queries: Vectors, documents: Vectors, rows: Index, entries: Index) -> Array:
    """The cosine of each query with each of its entries; zero where a vector has no length, or there is none."""
    cosines = np.zeros(entries.shape)
    at_once = max(1, PAIRS_AT_ONCE // entries.shape[1])
    for start in range(0, len(rows), at_once):
        some = slice(start, start + at_once)
        asked = np.asarray(queries[rows[some]], np.float64)
        listed = np.asarray(documents[np.maximum(entries[some], 0)], np.float64)  # (queries, rivals, dimensions)
        products = np.einsum("qd,qrd->qr", asked, listed)
        sizes = lengths(asked)[:, None] * np.sqrt((listed**2).sum(axis=2))
        cosines[some] = np.divide(products, sizes, out=np.zeros_like(products), where=sizes > 0)
    return np.where(entries >= 0, cosines, 0.0)
