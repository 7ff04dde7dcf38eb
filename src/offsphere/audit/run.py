"""The main job: compare, measure, advise, and gather what a report shows."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np

from offsphere.audit.advice import Advice, advise
from offsphere.base.arrays import Array
from offsphere.base.cache import Memo, cache_home
from offsphere.base.digests import digest_of
from offsphere.base.plain import plain
from offsphere.base.progress import Progress
from offsphere.base.version import __version__, code_version
from offsphere.comparison.choice import choose
from offsphere.comparison.compare_scorers import compare
from offsphere.comparison.examples import Example, changed_queries
from offsphere.comparison.exponent_curve import ExponentCurve, exponent_curve
from offsphere.comparison.table import Comparison, Row
from offsphere.data.ranking_task import RankingTask
from offsphere.data.task import Task, TaskVectors
from offsphere.data.task_vectors import RankingVectors
from offsphere.geometry.measurement import measure
from offsphere.geometry.shape import Geometry
from offsphere.learn.ablation.ablation import Ablation
from offsphere.learn.adapters.learn import Learned
from offsphere.scoring.record import Training
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE
from offsphere.statistics.metrics import parse_metric
from offsphere.vectors.blocks import Blocks
from offsphere.vectors.lengths import lengths

PACKAGES = ("numpy", "scipy", "numba")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Audit:
    """Everything an audit found."""

    table: Comparison
    shape: Geometry
    advice: Advice
    sweeps: Sequence[ExponentCurve]
    examples: Sequence[Example]
    compared: tuple[str, str]  # the two scorers of the examples
    differences: Array | None  # per query, the first of them less the second
    text_lengths: Array | None  # (documents, 2): characters, vector length
    relevant_lengths: tuple[Array, Array] | None  # relevant documents, others
    provenance: Mapping[str, Any] = field(default_factory=dict)
    learned: Learned | None = None
    ablation: Ablation | None = None
    training: Training | None = None  # of the model that made the vectors

    def __repr__(self) -> str:
        """The verdict."""
        return repr(self.advice)

    def to_json(self) -> dict[str, Any]:
        """Plain values for machines."""
        return {
            "advice": self.advice.to_json(),
            "comparison": self.table.to_json(),
            "geometry": self.shape.to_json(),
            "sweeps": plain(list(self.sweeps)),
            "examples": {"scorers": list(self.compared), "queries": plain(list(self.examples))},
            "provenance": plain(dict(self.provenance)),
            "learned": self.learned.to_json() if self.learned is not None else None,
            "ablation": self.ablation.to_json() if self.ablation is not None else None,
            "training": self.training.to_json() if self.training is not None else None,
        }


def audit(
    task: Task,
    vectors: TaskVectors,
    *,
    metric: str | None = None,
    symmetric: bool | None = None,
    declared: str | None = None,
    model: Mapping[str, Any] | None = None,
    folds: int = 5,
    seed: int = 0,
    cache: bool = True,
    progress: Progress | None = None,
    learned: Learned | None = None,
    ablation: Ablation | None = None,
    training: Training | None = None,
) -> Audit:
    """Measure, compare and advise. What was searched is kept in the user's cache, so that a killed audit goes on.

    ``declared`` is the similarity the model says it is to be scored with, ``model`` what is known of what made the
    vectors; ``progress`` is told how far it is. What was ``learned``, an ``ablation`` and the
    ``training`` of the model become part of the report.
    """
    clock = _Clock()
    with clock.step("digest"):
        digests = _digests(task, vectors)
    asked = f"{metric} {folds} {seed}".encode()
    key = digest_of([*(value.encode() for value in digests.values()), asked, code_version()])
    memo = Memo(cache_home() / "audits" / key if cache else None)
    with clock.step("compare"):
        table = compare(task, vectors, metric=metric, folds=folds, seed=seed, progress=progress, memo=memo)
    chosen = choose(table).row
    with clock.step("measure"):
        other = chosen.scorer if chosen.better and chosen.scorer.is_plain else None
        shape = measure(vectors, task, scorer=other, table=table, seed=seed, progress=progress, memo=memo)
    advice = advise(table, shape, symmetric=symmetric, declared=declared)
    with clock.step("sweep"):
        sweeps = _sweeps(task, vectors, table, advice.scorer, seed, memo)
    first, second = _two_best(table, advice)
    examples: Sequence[Example] = []
    if isinstance(task, RankingTask) and isinstance(vectors, RankingVectors):  # pairs have no lists that could change
        examples = changed_queries(task, vectors, first, second)
    own = _searched_lengths(vectors)
    differences = None if first.values is None or second.values is None else first.values - second.values
    return Audit(
        table,
        shape,
        advice,
        sweeps,
        examples,
        (first.deployed, second.deployed),
        differences,
        _text_lengths(task, own),
        _relevant_lengths(task, own),
        {
            "model": dict(model or {}),
            "digests": digests,
            "versions": _versions(),
            "seed": seed,
            "folds": folds,
            "metric": table.metric,
            "seconds": clock.seconds,
        },
        learned,
        ablation,
        training,
    )


def _two_best(table: Comparison, advice: Advice) -> tuple[Row, Row]:
    """What is recommended, and the best of the rest that ranks differently: cosine where it was beaten."""
    chosen = advice.choice.row
    if chosen.better:
        return chosen, table[table.baseline]
    others = [row for row in table.rows if row is not chosen]
    return chosen, others[0] if others else chosen


def _sweeps(
    task: Task,
    vectors: TaskVectors,
    table: Comparison,
    scorer: Scorer,
    seed: int,
    memo: Memo,
) -> list[ExponentCurve]:
    """On raw vectors, and behind the transforms of the recommended scorer where it has any."""
    folds = np.zeros(task.units, np.int64)
    evaluator = task.evaluator(vectors, parse_metric(table.metric), folds, memo=memo)
    chains = [Scorer(COSINE)] + ([scorer] if scorer.transforms else [])
    return [exponent_curve(evaluator, chain, pairs=task.symmetric, seed=seed) for chain in chains]


def _searched_lengths(vectors: TaskVectors) -> Array:
    """Of the side that is searched."""
    return np.concatenate([lengths(block) for block in Blocks.of(vectors.sides[1])])


def _text_lengths(task: Task, own: Array) -> Array | None:
    texts = task.sides[1].items
    return np.stack([[len(text) for text in texts], own], axis=1) if texts is not None else None


def _relevant_lengths(task: Task, own: Array) -> tuple[Array, Array] | None:
    flags = task.relevant_to_any()
    return (own[flags], own[~flags]) if flags is not None else None


def _digests(task: Task, vectors: TaskVectors) -> dict[str, str]:
    """Of the vectors of both sides and of the judgments."""
    sides = {side.plural: rows for side, rows in zip(task.sides, vectors.sides, strict=True)}
    found = {name: digest_of(block.tobytes() for block in Blocks.of(rows)) for name, rows in sides.items()}
    return {**found, "judgments": digest_of(task.judgment_bytes())}


def _versions() -> dict[str, str]:
    own = {"offsphere": __version__, "python": sys.version.split()[0]}
    return own | {package: version(package) for package in PACKAGES}


class _Clock:
    """Seconds of each step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Any:
        started = time.monotonic()
        yield
        self.seconds[name] = round(time.monotonic() - started, 2)
