"""The kinds of number that a document can be given, each with its options, measured on queries they did not see."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from offsphere.base.arrays import Array, Index, Rows, Vectors
from offsphere.data.task import Task, TaskVectors
from offsphere.geometry.document_terms import (
    DocumentTerms,
    curve_of_length,
    free_biases,
    free_weights,
    popularity,
)
from offsphere.geometry.evidence import Evidence
from offsphere.geometry.rival_lists import RivalLists, rival_lists
from offsphere.ranking.hub_bias import CSLS_NEIGHBOURS, NNN_NEIGHBOURS
from offsphere.scoring.document_bias import DocumentBias
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE, DOT, Polar
from offsphere.statistics.metrics import Metric
from offsphere.vectors.lengths import are_equal
from offsphere.vectors.lengths import lengths as lengths_of

BIAS_RIDGES = (0.3, 1.0, 4.0)  # on what is added to about twenty times a cosine
SHARES = (0.25, 0.5, 0.75)  # of a document's nearness to queries that are taken away: CSLS takes half, NNN more
POWERS = (0.5, 1.0)  # of a length, as a factor on the cosine: one is the dot product
LENGTH_SHARES = (-0.1, 0.03, 0.1, 0.3)  # of a length over the mean, added to the cosine: what norm-mix does
WEIGHT_RIDGES = (30.0, 100.0, 400.0)  # on logarithms of factors of it
MOST_NUMBERS = 2**28  # in a copy of the documents: weights of larger corpora are not tried
DOCUMENTS_AT_ONCE = 4_096  # whose cosines with all queries are in memory
LAST = -1e3  # the bias of a document without a direction
LENGTH = "length"


@dataclass(frozen=True, slots=True, eq=False)
class Learner:
    """What the kinds learn from: some queries of a task, their rivals, and the lengths of all documents."""

    task: Task  # with the drawn queries alone
    vectors: TaskVectors
    lists: RivalLists
    lengths: Array

    @classmethod
    def of(cls, evidence: Evidence, rows: Index) -> Learner:
        """Take the drawn queries of the evidence."""
        assert evidence.embedded is not None
        task, vectors = evidence.embedded
        return cls(task.only(rows), vectors.only(rows), rival_lists(evidence, rows), evidence.scans[-1].lengths)

    @property
    def documents(self) -> int:
        """How many documents are searched."""
        return len(self.lengths)

    def wanted(self, train: Index) -> Index:
        """How many of these queries want each document."""
        queries, documents = self.task.positives()
        return np.bincount(documents[np.isin(queries, train)], minlength=self.documents)

    def nearness(self, train: Index) -> list[Array]:
        """The mean cosine of each document with the few, and the many, nearest of these queries that do not want it.

        Those that want it are left out: where each document is wanted once, they would tell which are taken already.
        """
        queries, documents = self.vectors.sides
        asked = _unit(queries[train])
        number = np.full(self.task.units, -1)
        number[train] = np.arange(len(train))
        wanting, wanted = self.task.positives()
        kept = number[wanting] >= 0
        wanting, wanted = number[wanting[kept]], wanted[kept]
        parts: list[Array] = []
        for start in range(0, self.documents, DOCUMENTS_AT_ONCE):
            cosines = (_unit(documents[start : start + DOCUMENTS_AT_ONCE]) @ asked.T).astype(np.float64)
            inside = (wanted >= start) & (wanted < start + len(cosines))
            cosines[wanted[inside] - start, wanting[inside]] = -1.0
            parts.append(-np.sort(-cosines, axis=1)[:, :NNN_NEIGHBOURS])
        nearest = np.concatenate(parts)
        return [nearest[:, :count].mean(axis=1) for count in (CSLS_NEIGHBOURS, NNN_NEIGHBOURS)]


Learn = Callable[[Learner, Index], Sequence[DocumentTerms]]  # from some queries, the options of a kind


def _free_biases(learner: Learner, train: Index) -> list[DocumentTerms]:
    lists = learner.lists.only(train)
    return [free_biases(lists, learner.documents, ridge) for ridge in BIAS_RIDGES]


def _free_weights(learner: Learner, train: Index) -> list[DocumentTerms]:
    lists = learner.lists.only(train)
    return [free_weights(lists, learner.documents, ridge) for ridge in WEIGHT_RIDGES]


def _plain_lengths(lengths: Array) -> list[DocumentTerms]:
    """Length as scorers have it, which a curve fitted to few queries may miss: powers as factors, shares as biases."""
    relative = lengths / (lengths[lengths > 0].mean() if (lengths > 0).any() else 1.0)
    return [
        *(DocumentTerms(relative**power, np.zeros(len(lengths))) for power in POWERS),
        *(DocumentTerms(None, share * relative) for share in LENGTH_SHARES),
    ]


FAMILIES: Mapping[str, Learn] = MappingProxyType(
    {
        "prior": lambda at, train: [popularity(at.lists.only(train), at.wanted(train))],
        "correction": lambda at, train: [
            DocumentTerms(None, -share * means) for means in at.nearness(train) for share in SHARES
        ],
        "bias": _free_biases,
        "weight": _free_weights,
        LENGTH: lambda at, train: [curve_of_length(at.lists.only(train), at.lengths), *_plain_lengths(at.lengths)],
    }
)


def option_values(learner: Learner, metric: Metric, folds: Index) -> dict[str, Array]:
    """Measure cosine and every option of every kind, each query by what was learned without its fold.

    Args:
        learner: The queries and their rivals.
        metric: With a value a query.
        folds: The fold of each query.

    Returns:
        ``cosine``, a value a query, and for each kind (options, queries).
    """
    parts: dict[str, list[tuple[Index, Array]]] = {}
    for fold in range(int(folds.max()) + 1):
        train, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        nothing = [DocumentTerms(None, np.zeros(learner.documents))]
        learned = {"cosine": nothing, **{kind: FAMILIES[kind](learner, train) for kind in _kinds(learner)}}
        measured = _measured(learner, metric, held, [each for options in learned.values() for each in options])
        for kind, options in learned.items():
            parts.setdefault(kind, []).append((held, np.stack(measured[: len(options)])))
            measured = measured[len(options) :]
    back = np.argsort(np.concatenate([held for held, _ in parts["cosine"]]))
    values = {kind: np.concatenate([part for _, part in each], axis=1)[:, back] for kind, each in parts.items()}
    return values | {"cosine": values["cosine"][0]}


def _kinds(learner: Learner) -> list[str]:
    """The kinds that can be learned: curves where lengths differ, and weights where a copy of the documents fits."""
    without = {LENGTH} if are_equal(learner.lengths) else set()
    if learner.vectors.sides[1].size > MOST_NUMBERS:
        without |= {"weight", LENGTH}
    return [kind for kind in FAMILIES if kind not in without]


def _measured(learner: Learner, metric: Metric, held: Index, terms: Sequence[DocumentTerms]) -> list[Array]:
    """Rank exactly for the held-out queries under each of the terms: a value a query."""
    task, (queries, documents) = learner.task.only(held), learner.vectors.only(held).sides
    everyone = np.zeros(task.units, np.int64)
    plain = [number for number, each in enumerate(terms) if each.factors is None]
    evaluator = task.evaluator(task.vectors(queries, documents), metric, everyone)
    found = dict(zip(plain, evaluator.values([_biased(COSINE, terms[n].biases) for n in plain]), strict=True))
    for number, each in enumerate(terms):
        if each.factors is not None:
            scaled = task.vectors(_unit(queries), _unit(documents, each.factors))
            biases = np.where(learner.lengths > 0, each.biases, LAST)
            found[number] = task.evaluator(scaled, metric, everyone).values([_biased(DOT, biases)])[0]
    return [found[number] for number in range(len(terms))]


def _biased(similarity: Polar, biases: Array) -> Scorer:
    return Scorer(similarity, bias=DocumentBias("learned", biases))


def _unit(rows: Vectors, factors: Array | None = None) -> Rows:
    """Rows of length one, or as long as their factors; a row without length stays without."""
    rows = np.asarray(rows)  # a copy of rows in parts fits, where one of all documents does
    sizes = lengths_of(rows)
    scale = np.divide(1.0 if factors is None else factors, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    return np.asarray(rows * scale[:, None], np.float32)
