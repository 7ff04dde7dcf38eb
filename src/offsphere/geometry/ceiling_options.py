"""The kinds of number that a document can be given, each with its options, measured on queries they did not see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.base.cores import available_cores
from offsphere.data.task import Task, TaskVectors
from offsphere.geometry.document_terms import (
    DocumentTerms,
    curve_of_length,
    free_biases,
    free_weights,
    popularity,
)
from offsphere.geometry.evidence import Evidence
from offsphere.geometry.query_nearness import nearness_by_fold, rows_of_lengths, unit_rows
from offsphere.geometry.rival_lists import RivalLists, rival_lists
from offsphere.ranking.hub_bias import CSLS_NEIGHBOURS, NNN_NEIGHBOURS
from offsphere.scoring.document_bias import DocumentBias
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import DOT, Polar
from offsphere.statistics.metrics import QualityMetric
from offsphere.vectors.lengths import are_equal

BIAS_RIDGES = (0.3, 1.0, 4.0)  # on what is added to about twenty times a cosine
SHARES = (0.25, 0.5, 0.75)  # of a document's nearness to queries that are taken away: CSLS takes half, NNN more
POWERS = (0.5, 1.0)  # of a length, as a factor on the cosine: one is the dot product
LENGTH_SHARES = (-0.1, 0.03, 0.1, 0.3)  # of a length over the mean, added to the cosine: what norm-mix does
WEIGHT_RIDGES = (30.0, 100.0, 400.0)  # on logarithms of factors of it
MOST_NUMBERS = 2**28  # in a copy of the documents: weights of larger corpora are not tried
LAST = -1e3  # the bias of a document without a direction
LENGTH = "length"


@dataclass(frozen=True, slots=True, eq=False)
class Learner:
    """What the kinds learn from: some queries of a task, their rivals, and the lengths of all documents."""

    task: Task  # with the drawn queries alone
    vectors: TaskVectors
    lists: RivalLists
    lengths: Array
    folds: Index  # of each query
    nearness: Sequence[Sequence[Array]]  # of each document to the few, and the many, nearest queries; without each fold

    @classmethod
    def of(cls, evidence: Evidence, rows: Index, folds: Index) -> Learner:
        """Take the drawn queries of the evidence, which are dealt out to folds."""
        assert evidence.embedded is not None
        task, vectors = evidence.embedded[0].only(rows), evidence.embedded[1].only(rows)
        near = nearness_by_fold(*vectors.sides, task.positives(), folds, (CSLS_NEIGHBOURS, NNN_NEIGHBOURS))
        return cls(task, vectors, rival_lists(evidence, rows), evidence.scans[-1].lengths, folds, near)

    @property
    def documents(self) -> int:
        """How many documents are searched."""
        return len(self.lengths)

    def lists_without(self, fold: int) -> RivalLists:
        """The rivals of the queries of all other folds."""
        return self.lists.only(np.flatnonzero(self.folds != fold))

    def wanted_without(self, fold: int) -> Index:
        """How many of the queries of all other folds want each document."""
        queries, documents = self.task.positives()
        return np.bincount(documents[self.folds[queries] != fold], minlength=self.documents)


Learn = Callable[[Learner, int], Sequence[DocumentTerms]]  # without a fold, the options of a kind


def _free_biases(learner: Learner, fold: int) -> list[DocumentTerms]:
    lists = learner.lists_without(fold)
    return [free_biases(lists, learner.documents, ridge) for ridge in BIAS_RIDGES]


def _free_weights(learner: Learner, fold: int) -> list[DocumentTerms]:
    lists = learner.lists_without(fold)
    return [free_weights(lists, learner.documents, ridge) for ridge in WEIGHT_RIDGES]


def _lengths(learner: Learner, fold: int) -> list[DocumentTerms]:
    """A curve, and length as scorers have it, which a curve fitted to few queries may miss: powers and shares."""
    lengths, nothing = learner.lengths, np.zeros(learner.documents)
    relative = lengths / (lengths[lengths > 0].mean() if (lengths > 0).any() else 1.0)
    return [
        curve_of_length(learner.lists_without(fold), lengths),
        *(DocumentTerms(None, nothing, power) for power in POWERS),
        *(DocumentTerms(None, share * relative) for share in LENGTH_SHARES),
    ]


FAMILIES: Mapping[str, Learn] = MappingProxyType(
    {
        "prior": lambda at, fold: [popularity(at.lists_without(fold), at.wanted_without(fold))],
        "correction": lambda at, fold: [
            DocumentTerms(None, -share * means) for means in at.nearness[fold] for share in SHARES
        ],
        "bias": _free_biases,
        "weight": _free_weights,
        LENGTH: _lengths,
    }
)


def option_values(learner: Learner, metric: QualityMetric) -> dict[str, Array]:
    """Measure cosine and every option of every kind, each query by what was learned without its fold.

    Args:
        learner: The queries and their rivals.
        metric: With a value a query.

    Returns:
        ``cosine``, a value a query, and for each kind (options, queries).
    """
    parts: dict[str, list[tuple[Index, Array]]] = {}
    for fold, kind, options in _learn_all(learner):
        held = np.flatnonzero(learner.folds == fold)
        parts.setdefault(kind, []).append((held, np.stack(_measured(learner, metric, held, options))))
    back = np.argsort(np.concatenate([held for held, _ in parts["cosine"]]))
    values = {kind: np.concatenate([part for _, part in each], axis=1)[:, back] for kind, each in parts.items()}
    return values | {"cosine": values["cosine"][0]}


def _learn_all(learner: Learner) -> Iterator[tuple[int, str, Sequence[DocumentTerms]]]:
    """What each kind learns without each fold, and cosine, which learns nothing; several kinds at a time.

    Numbers of all documents are many: those of a kind are forgotten when they were measured.
    """
    kinds = _kinds(learner)
    with ThreadPoolExecutor(available_cores()) as pool:
        for fold in range(int(learner.folds.max()) + 1):
            learning = {kind: pool.submit(FAMILIES[kind], learner, fold) for kind in kinds}
            yield fold, "cosine", [DocumentTerms(None, np.zeros(learner.documents))]
            for kind in kinds:
                yield fold, kind, learning.pop(kind).result()


def _kinds(learner: Learner) -> list[str]:
    """The kinds that can be learned: curves where lengths differ, and weights where a copy of the documents fits."""
    without = {LENGTH} if are_equal(learner.lengths) else set()
    if learner.vectors.sides[1].size > MOST_NUMBERS:
        without |= {"weight", LENGTH}
    return [kind for kind in FAMILIES if kind not in without]


def _measured(learner: Learner, metric: QualityMetric, held: Index, terms: Sequence[DocumentTerms]) -> list[Array]:
    """Rank exactly for the held-out queries under each of the terms: a value a query."""
    task, (queries, documents) = learner.task.only(held), learner.vectors.only(held).sides
    everyone = np.zeros(task.units, np.int64)
    last = LAST * max(1.0, float(learner.lengths.max()))
    plain = [number for number, each in enumerate(terms) if each.factors is None]
    scorers = [
        _biased(Polar(1.0, 1.0 - terms[number].power), np.where(learner.lengths > 0, terms[number].biases, last))
        for number in plain
    ]
    evaluator = task.evaluator(task.vectors(queries, documents), metric, everyone)
    values = dict(zip(plain, evaluator.values(scorers), strict=True))
    for number, each in enumerate(terms):
        if each.factors is not None:
            scaled = task.vectors(unit_rows(queries), rows_of_lengths(documents, each.factors))
            biases = np.where(learner.lengths > 0, each.biases, last)
            values[number] = task.evaluator(scaled, metric, everyone).values([_biased(DOT, biases)])[0]
    return [values[number] for number in range(len(terms))]


def _biased(similarity: Polar, biases: Array) -> Scorer:
    return Scorer(similarity, bias=DocumentBias("learned", biases))
