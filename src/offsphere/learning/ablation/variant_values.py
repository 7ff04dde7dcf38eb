"""Values, intervals and tests of all variants of an ablation, seeds averaged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.comparison.row_tests import RESAMPLES
from offsphere.data.evaluator import Evaluator
from offsphere.learning.ablation.ablation import VariantResult, VariantRow
from offsphere.learning.ablation.variant_runs import VariantRun, best_trial
from offsphere.learning.ablation.variants import Variant
from offsphere.learning.adapters.learn import FEWEST_NEW
from offsphere.learning.data.training_data import TrainingData, TrainingSource
from offsphere.statistics.difference import Difference
from offsphere.statistics.evaluation import Evaluation, MeanOverQueries
from offsphere.statistics.significance import bootstrap, holm, interval, randomization_test


class Column(NamedTuple):
    """What variants are judged by: a task, or some of its queries."""

    task: Mapping[str, Any]
    evaluation: Evaluation
    number: int  # of the task among those that were measured
    rows: Index | None = None  # of its queries; all without

    def select(self, measured: Array) -> Array:
        """Of one measurement of the task, what belongs to this column."""
        return measured if self.rows is None else measured[self.rows]

    def measurements(self, run: VariantRun) -> Array:
        """The measurements of a variant, seed by seed: (seeds, units, ...)."""
        measured = run.measured[self.number]
        return measured if self.rows is None else measured[:, self.rows]

    def value(self, measured: Array) -> float:
        """The value of one measurement over all units of the column."""
        return float(self.evaluation.evaluate(measured, np.ones((1, self.evaluation.units)))[0])


def value_columns(data: TrainingData[TrainingSource], evaluators: Sequence[Evaluator]) -> list[Column]:
    """A column for every task that is judged by, in their order; ``evaluators`` are those of the tasks.

    Those queries of the first task whose relevant documents are all new have a column of their own, where they are
    enough and not all.
    """
    columns = [
        Column(judged.task.summary(), evaluator.evaluation, number)
        for number, (judged, evaluator) in enumerate(zip(data.judged, evaluators, strict=True))
    ]
    first = data.judged[0]
    if first.task.relevant_to_any() is not None and data.source.task.relevant_to_any() is not None:
        new = np.flatnonzero(~data.seen_units(first))
        if FEWEST_NEW <= len(new) < first.task.units:
            part = first.task.only(new).summary()
            part["name"] = f"{first.task.name}, new documents"
            columns.insert(1, Column(part, MeanOverQueries(len(new)), 0, new))
    return columns


class VariantValues:
    """Values, intervals and tests of every variant in every column."""

    def __init__(self, columns: Sequence[Column], runs: Sequence[VariantRun], seed: int) -> None:
        self.columns, self.runs, self.seed = columns, runs, seed
        self.values = [[self._by_seed(column, run) for run in runs] for column in columns]
        self.samples = [self._resample(column) for column in columns]  # (resamples, variants)
        self.p = [self._test(number) for number in range(len(columns))]

    def row(self, number: int, variant: Variant) -> VariantRow:
        """What one variant came to; ``number`` is that of its run."""
        run = self.runs[number]
        temperature, rate, _ = run.trials[best_trial(run.trials)].tolist()
        query, document = run.exponents.mean(axis=0).tolist()
        whole = [row for row in run.dynamics if row.get("layer") is None]  # not those of single layers
        return VariantRow(
            name=variant.name,
            temperature=temperature,
            rate=rate,
            held_out=float(run.held_out.mean()),
            results=[self._result(column, number) for column in range(len(self.columns))],
            seconds=run.seconds,
            exponents=(query, document),
            negative_variance=whole[-1]["negative_variance"] if whole else float("nan"),
            same=variant.same,
        )

    def difference(self, variant: int, baseline: int, column: int) -> Difference:
        """One variant less another in a column, all given by number."""
        around = interval(self.samples[column][:, variant] - self.samples[column][:, baseline])
        difference = float(self.values[column][variant].mean() - self.values[column][baseline].mean())
        apart = self._units(column, variant) - self._units(column, baseline)
        p = randomization_test(apart[:, None], seed=self.seed)
        return Difference(difference, float(around.low), float(around.high), float(p[0]))

    def _result(self, column: int, number: int) -> VariantResult:
        """A variant in one column, and how it differs from the first variant there."""
        by_seed, samples = self.values[column][number], self.samples[column]
        around, gained = interval(samples[:, number]), interval(samples[:, number] - samples[:, 0])
        return VariantResult(
            value=float(by_seed.mean()),
            low=float(around.low),
            high=float(around.high),
            spread=float(by_seed.std(ddof=1)) if len(by_seed) > 1 else 0.0,
            difference=float(by_seed.mean() - self.values[column][0].mean()),
            difference_low=float(gained.low),
            difference_high=float(gained.high),
            p=float(self.p[column][number - 1]) if number else None,
        )

    def _by_seed(self, column: Column, run: VariantRun) -> Array:
        """The value of a variant in a column with each seed."""
        return np.array([column.value(measured) for measured in column.measurements(run)])

    def _resample(self, column: Column) -> Array:
        """Each variant's mean over seeds in each resample of the queries."""
        evaluation = column.evaluation
        seeds = len(self.runs[0].held_out)
        flat = [measured for run in self.runs for measured in column.measurements(run)]
        samples = bootstrap(
            lambda weights: evaluation.evaluate_all(flat, weights), evaluation.units, RESAMPLES, self.seed
        )
        return np.asarray(samples.reshape(len(samples), len(self.runs), seeds).mean(axis=2))

    def _units(self, column: int, number: int) -> Array:
        """What each query adds to the value of a variant in a column, seeds averaged."""
        judged = self.columns[column]
        parts = [judged.evaluation.contributions(measured) for measured in judged.measurements(self.runs[number])]
        return np.asarray(np.mean(cast("list[Array]", parts), axis=0))

    def _test(self, column: int) -> Array:
        """The corrected p of every variant but the first against the first."""
        if len(self.runs) < 2:  # noqa: PLR2004
            return np.zeros(0)
        base = self._units(column, 0)
        apart = np.stack([self._units(column, number) - base for number in range(1, len(self.runs))], axis=1)
        return holm(randomization_test(apart, seed=self.seed))
