"""What a report shows beside table, shape and advice: curves, examples, lists that can be turned, lengths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.cache import Memo
from offsphere.comparison.examples import Example, changed_queries
from offsphere.comparison.exponent_curve import ExponentCurve, exponent_curve
from offsphere.comparison.rerankable import RerankableLists, rerankable_lists
from offsphere.comparison.row import Row
from offsphere.comparison.table import Comparison
from offsphere.data.items import kinds_of, size_of
from offsphere.data.task import Task, TaskVectors
from offsphere.data.task_kinds import as_ranking
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE
from offsphere.statistics.metrics import parse_metric
from offsphere.vectors.blocks import Blocks
from offsphere.vectors.lengths import lengths


def exponent_curves(
    task: Task,
    vectors: TaskVectors,
    table: Comparison,
    scorer: Scorer,
    seed: int,
    memo: Memo,
) -> list[ExponentCurve]:
    """One curve on raw vectors, and one behind the transforms of the recommended scorer where it has any."""
    folds = np.zeros(task.units, np.int64)
    evaluator = task.evaluator(vectors, parse_metric(table.metric), folds, memo=memo)
    chains = [Scorer(COSINE)] + ([scorer] if scorer.transforms else [])
    return [exponent_curve(evaluator, chain, pairs=task.symmetric, seed=seed) for chain in chains]


def changed_examples(task: Task, vectors: TaskVectors, first: Row, second: Row, memo: Memo) -> Sequence[Example]:
    """Queries whose results change most; pairs have no lists that could change."""
    ranking = as_ranking(task, vectors)
    return changed_queries(*ranking, first, second, memo=memo) if ranking is not None else []


def lists_to_turn(
    task: Task,
    vectors: TaskVectors,
    table: Comparison,
    compared: tuple[Row, Row],
    show: Sequence[str],
    seed: int,
    memo: Memo,
) -> RerankableLists | None:
    """Lists that can be ranked again, those of some queries before others; pairs have none."""
    ranking = as_ranking(task, vectors)
    if ranking is None:
        return None
    return rerankable_lists(*ranking, table, compared, show=show, seed=seed, memo=memo)


def searched_lengths(vectors: TaskVectors) -> Array:
    """The length of every vector that is searched."""
    return np.concatenate([lengths(block) for block in Blocks.of(vectors.sides[1])])


def text_lengths(task: Task, searched: Array) -> Array | None:
    """A row a document: characters of its text, and length of its vector; nothing where there are no texts."""
    items = task.sides[1].items
    if items is None or kinds_of(items) != ["text"]:
        return None
    return np.stack([[size_of(text) for text in items], searched], axis=1)


def relevant_lengths(task: Task, searched: Array) -> tuple[Array, Array] | None:
    """Lengths of what is relevant to some unit, and of the rest; nothing where each belongs to one unit."""
    relevant = task.relevant_to_any()
    return (searched[relevant], searched[~relevant]) if relevant is not None else None
