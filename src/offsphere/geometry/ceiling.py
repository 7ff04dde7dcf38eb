"""What can anything about the documents alone be worth? The best numbers per document, learned and then held out.

In a ranking a length can only act as something about the document whatever the query: a *prior* (how likely it is
wanted at all) or a *correction* (how easily it is found: hubs). So what the best such numbers gain over cosine, learned
from the judgments of some queries and measured on others, bounds what any length could, of this model or of a better
one with the same directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.base.errors import OffsphereError
from offsphere.base.progress import say
from offsphere.base.short_repr import short_repr
from offsphere.geometry.ceiling_options import FAMILIES, LENGTH, Learner, option_values
from offsphere.geometry.evidence import Evidence
from offsphere.geometry.spread import Spread, measure_spread
from offsphere.statistics.agreeing_intervals import around_means
from offsphere.statistics.cross_validation import assign_folds, tune
from offsphere.statistics.equivalence import most_to_gain
from offsphere.statistics.estimate import Estimate
from offsphere.statistics.evaluation import MeanOverQueries
from offsphere.statistics.metrics import QualityMetric, parse_metric
from offsphere.statistics.significance import ALPHA, bootstrap_means
from offsphere.statistics.tuned_signs import max_t_by_tuned_signs
from offsphere.vectors.widths import refuse_two_widths
from offsphere.wording.ceiling_words import KINDS
from offsphere.wording.written_numbers import chance, signed, with_interval

FOLDS = 5
MOST_QUERIES = 1_000  # that are learned from and judged by
FEWEST_QUERIES = 10
PERMUTATIONS = 2_000


class CeilingRow(NamedTuple):
    """What one kind of number about a document gains over cosine, on queries that it was not learned from."""

    kind: str  # a key of ``FAMILIES``
    gain: Estimate  # with the interval that belongs to p: it leaves out zero exactly where p is below 0.05
    p: float  # corrected for the other kinds
    used: float  # share of the folds in which the other folds spoke for using it at all

    @property
    def better(self) -> bool:
        """Whether it surely gains."""
        return self.p < ALPHA and self.gain.value > 0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Ceiling:
    """What is to be had from numbers about documents alone, over cosine."""

    metric: str
    queries: int
    cosine: float
    rows: Sequence[CeilingRow]
    best: Estimate  # of the kind that the other folds speak for, chosen anew for each fold
    most: float  # what the best of all kinds gains at most (95 %)
    spread: Spread

    __repr__ = short_repr

    def row(self, kind: str) -> CeilingRow | None:
        """The row of a kind; nothing where it could not be learned."""
        return next((row for row in self.rows if row.kind == kind), None)

    @property
    def top(self) -> CeilingRow:
        """The kind that gains most; among those that surely gain, where there are such."""
        return max(self.rows, key=lambda row: (row.better, row.gain.value))

    @property
    def sentence(self) -> str:
        """What the best kind of number is worth, what the lengths of today hold of it, and what bounds both."""
        top, length = self.top, self.row(LENGTH)
        known = (
            f"; with {self.spread.wanted_again:.0%} of the judgments for documents that another query wants too, only "
            "a function of length or a correction of hubs can carry over"
            if self.spread.known_item
            else ""
        )
        best, change = KINDS[top.kind], f"{with_interval(*top.gain)} {self.metric}"
        if not top.better:
            told = (
                f"nothing about documents alone surely gains over cosine; the best ({best}) changes it by {change} "
                f"({chance(top.p)})"
            )
        else:
            told = f"the best about documents alone ({best}) gains {change} over cosine ({chance(top.p)})"
            if length is not None and top is not length:
                part = signed(length.gain.value)
                told += (
                    f", of which a curve of today's lengths gets {part}"
                    if length.better
                    else f", of which a curve of today's lengths gets nothing that one could see ({part})"
                )
        return f"ceiling: {told}; nothing of the kind gains more than {signed(self.most)}{known}"


def measure_ceiling(evidence: Evidence) -> Ceiling:
    """The section: what numbers about documents alone gain on held-out queries of a ranking task."""
    spread = measure_spread(evidence)
    assert evidence.embedded is not None
    task, vectors = evidence.embedded
    refuse_two_widths(*vectors.widths)
    if task.units < FEWEST_QUERIES:
        raise OffsphereError(f"it needs at least {FEWEST_QUERIES} queries to learn from and judge by")
    metric = _metric(evidence)
    rows = _drawn(task.units, evidence.seed)
    if len(task.only(rows[:1]).sides[1].ids or ()) < len(task.sides[1].ids or ()):
        raise OffsphereError("each query is asked among documents of its own: no number of a document carries over")
    folds = assign_folds(len(rows), FOLDS, evidence.seed)
    say(evidence.progress, "ceiling")

    def measured() -> dict[str, Array]:
        return option_values(Learner.of(evidence, rows, folds), metric)

    kept = evidence.memo.arrays(f"ceiling-{metric.name}-{evidence.seed}", measured)
    return ceiling_of(
        metric.name, {name: cast("Array", part) for name, part in kept.items()}, folds, spread, evidence.seed
    )


def ceiling_of(metric: str, values: dict[str, Array], folds: Index, spread: Spread, seed: int = 0) -> Ceiling:
    """Judge the options of each kind.

    Args:
        metric: What was measured.
        values: ``cosine``, a value a query; and for each kind a row an option (options, queries), each measured
            without having learned from the query's fold.
        folds: The fold of each query.
        spread: How relevance is spread.
        seed: Of intervals and tests.

    Returns:
        The gain of each kind, where each fold uses the option (or none) that the others speak for.
    """
    cosine = values["cosine"]
    evaluation = MeanOverQueries(len(cosine))
    options = {kind: [cosine, *values[kind]] for kind in FAMILIES if kind in values}
    tuned = {kind: tune(each, evaluation, folds) for kind, each in options.items()}
    everything = tune([cosine, *(row for kind in options for row in values[kind])], evaluation, folds)
    gains = np.stack([*(each.measured for each in tuned.values()), everything.measured], axis=1) - cosine[:, None]
    samples = bootstrap_means(gains, seed=seed)
    columns = np.stack([row for each in options.values() for row in each], axis=1) - cosine[:, None]
    starts = np.cumsum([0, *(len(each) for each in options.values())])
    numbers = [np.tile(np.arange(*ends), (int(folds.max()) + 1, 1)) for ends in pairwise(starts.tolist())]
    tests = max_t_by_tuned_signs(columns, numbers, folds, PERMUTATIONS, seed)
    around = around_means(gains[:, :-1], tests.reach)
    means = gains.mean(axis=0)
    estimates = [Estimate(*map(float, ends)) for ends in zip(means[:-1], *around, strict=True)]
    return Ceiling(
        metric=metric,
        queries=len(cosine),
        cosine=float(cosine.mean()),
        rows=[
            CeilingRow(kind, estimates[i], float(tests.corrected[i]), float((np.array(tuned[kind].by_fold) > 0).mean()))
            for i, kind in enumerate(options)
        ],
        best=Estimate.resampled(float(means[-1]), samples[:, -1]),
        most=most_to_gain(means[:-1], samples[:, :-1]),
        spread=spread,
    )


def _metric(evidence: Evidence) -> QualityMetric:
    """The metric of the comparison that goes with the measurement, or the task's usual one."""
    assert evidence.task is not None
    table = evidence.known_table
    asked = parse_metric(table.metric) if table is not None else None
    return asked if asked is not None and asked.kind == "ranking" else parse_metric(evidence.task.usual_metric)


def _drawn(units: int, seed: int) -> Index:
    """All queries, or as many as are enough, drawn by seed."""
    if units <= MOST_QUERIES:
        return np.arange(units)
    return np.sort(np.random.default_rng(seed).permutation(units)[:MOST_QUERIES])
