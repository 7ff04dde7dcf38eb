"""What measures scorers on a task: one face for every kind of task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from offsphere.base.arrays import Array, Index, Vectors
from offsphere.base.cache import Memo
from offsphere.base.errors import ParameterError
from offsphere.data.scored_lists import ScoredLists
from offsphere.ranking.reranking import TwoSteps
from offsphere.ranking.search import TopK
from offsphere.scoring.scorer import Scorer
from offsphere.statistics.evaluation import Evaluation
from offsphere.statistics.metrics import QualityMetric


class Bank(Protocol):
    """The queries and documents of a task whose queries can serve as a bank for others' biases."""

    @property
    def queries(self) -> Vectors:
        """The vectors that ask."""
        ...

    @property
    def documents(self) -> Vectors:
        """The vectors that are asked for."""
        ...

    @property
    def document_ids(self) -> Sequence[str] | None:
        """The ids of what is asked for, in the order of its vectors; nothing where it has none."""
        ...


class Evaluator(Protocol):
    """Measures scorers on a task under one metric."""

    @property
    def metric(self) -> QualityMetric:
        """The metric under which scorers are measured."""
        ...

    @property
    def folds(self) -> Index:
        """The fold of each unit, for whoever tunes on the others."""
        ...

    @property
    def evaluation(self) -> Evaluation:
        """What kind of measurement it is, and how measurements are summed up."""
        ...

    @property
    def bank(self) -> Bank | None:
        """Queries that tell which documents are near to everything; nothing where there are only pairs."""
        ...

    def values(self, scorers: Sequence[Scorer]) -> list[Array]:
        """Measure each scorer, with whatever parameters it has."""
        ...

    @property
    def memo(self) -> Memo:
        """Where measurements that took long are kept."""
        ...


@runtime_checkable
class TwoStepEvaluator(Protocol):
    """What measures searches in two steps as well, where a task has lists that can be ranked again."""

    def two_step_values(self, searches: Sequence[TwoSteps]) -> list[Array]:
        """Measure each search, whatever its two scorers are."""
        ...


@runtime_checkable
class ListEvaluator(Protocol):
    """What measures lists that some other system made, where a task has lists or pairs."""

    def list_values(self, lists: Sequence[ScoredLists]) -> list[Array]:
        """Measure each of them as the lists of a scorer are measured."""
        ...


@runtime_checkable
class JudgedEvaluator(Protocol):
    """What shows the lists of a scorer with the judgments of what is in them, where a task has lists."""

    @property
    def folds(self) -> Index:
        """The fold of each query."""
        ...

    @property
    def searched(self) -> Vectors:
        """The vectors of the documents."""
        ...

    def judged_lists(self, scorer: Scorer, depth: int) -> tuple[TopK, Array]:
        """Search for all queries: what is found, and the grade of each document, zero where it was not judged."""
        ...


def lists_measured(evaluator: Evaluator, lists: Sequence[ScoredLists]) -> list[Array]:
    """Measure lists that some other system made.

    Raises:
        ParameterError: where the task has neither lists of documents nor pairs.
    """
    if not isinstance(evaluator, ListEvaluator):
        raise ParameterError("this task has neither lists of documents nor pairs that another system could score")
    return evaluator.list_values(lists)


def value_of(evaluator: Evaluator, measured: Array) -> float:
    """Sum one scorer's measurement up to its value over all units."""
    evaluation = evaluator.evaluation
    return float(evaluation.evaluate(measured, np.ones((1, evaluation.units)))[0])
