"""Values, intervals and tests of all variants of an ablation, seeds averaged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.comparison.compare_scorers import RESAMPLES
from offsphere.data.evaluator import Evaluator
from offsphere.learn.ablation.ablation import VariantResult, VariantRow
from offsphere.learn.ablation.variant_runs import VariantRun, best_trial
from offsphere.learn.ablation.variants import Variant
from offsphere.learn.adapters.learn import FEWEST_NEW
from offsphere.learn.data.training_data import Source, TrainingData
from offsphere.statistics.difference import Difference
from offsphere.statistics.evaluation import Evaluation, MeanOverQueries
from offsphere.statistics.significance import bootstrap, holm, interval, randomization_test


class Column(NamedTuple):
    """What variants are judged by: a task, or some queries of it."""

    task: Mapping[str, Any]
    evaluation: Evaluation
    number: int  # of the task among those that were measured
    rows: Index | None = None  # of its queries; all without

    def measured(self, run: VariantRun) -> Array:
        """The measurements of a variant, seed by seed."""
        found = run.measured[self.number]
        return found if self.rows is None else found[:, self.rows]

    def value(self, measured: Array) -> float:
        """Of one measurement."""
        return float(self.evaluation.evaluate(measured, np.ones((1, self.evaluation.units)))[0])


def columns_of(data: TrainingData[Source], evaluators: Sequence[Evaluator]) -> list[Column]:
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
        new = np.flatnonzero(~data.seen(first))
        if FEWEST_NEW <= len(new) < first.task.units:
            part = first.task.only(new).summary()
            part["name"] = f"{first.task.name}, new documents"
            columns.insert(1, Column(part, MeanOverQueries(len(new)), 0, new))
    return columns


class VariantValues:
    """What the runs are worth in each column."""

    def __init__(self, columns: Sequence[Column], runs: Sequence[VariantRun], seed: int) -> None:
        self.columns, self.runs, self.seed = columns, runs, seed
        self.values = [[self._by_seed(column, run) for run in runs] for column in columns]
        self.samples = [self._resampled(column) for column in columns]  # (resamples, variants)
        self.p = [self._tested(place) for place in range(len(columns))]

    def row(self, place: int, variant: Variant) -> VariantRow:
        """What one variant came to."""
        run = self.runs[place]
        temperature, rate, _ = run.trials[best_trial(run.trials)].tolist()
        results = [self._result(column, place) for column in range(len(self.columns))]
        last = run.dynamics[-1]["negative_variance"] if run.dynamics else float("nan")
        query, document = run.exponents.mean(axis=0).tolist()
        held_out = float(run.held_out.mean())
        exponents = (query, document)
        return VariantRow(
            variant.name, temperature, rate, held_out, results, run.seconds, exponents, last, variant.same
        )

    def contrast(self, one: int, other: int, task: int) -> Difference:
        """One variant less another."""
        around = interval(self.samples[task][:, one] - self.samples[task][:, other])
        difference = float(self.values[task][one].mean() - self.values[task][other].mean())
        p = randomization_test((self._units(task, one) - self._units(task, other))[:, None], seed=self.seed)
        return Difference(difference, float(around.low), float(around.high), float(p[0]))

    def _result(self, task: int, place: int) -> VariantResult:
        own, samples = self.values[task][place], self.samples[task]
        around, gained = interval(samples[:, place]), interval(samples[:, place] - samples[:, 0])
        return VariantResult(
            float(own.mean()),
            float(around.low),
            float(around.high),
            float(own.std(ddof=1)) if len(own) > 1 else 0.0,
            float(own.mean() - self.values[task][0].mean()),
            float(gained.low),
            float(gained.high),
            float(self.p[task][place - 1]) if place else None,
        )

    def _by_seed(self, column: Column, run: VariantRun) -> Array:
        return np.array([column.value(measured) for measured in column.measured(run)])

    def _resampled(self, column: Column) -> Array:
        """Each variant's mean over seeds in each resample of the queries."""
        evaluation = column.evaluation
        seeds = len(self.runs[0].held_out)
        flat = [measured for run in self.runs for measured in column.measured(run)]
        found = bootstrap(
            lambda weights: evaluation.evaluate_all(flat, weights), evaluation.units, RESAMPLES, self.seed
        )
        return np.asarray(found.reshape(len(found), len(self.runs), seeds).mean(axis=2))

    def _units(self, task: int, place: int) -> Array:
        """What each query adds to the value, seeds averaged."""
        column = self.columns[task]
        parts = [column.evaluation.contributions(measured) for measured in column.measured(self.runs[place])]
        return np.asarray(np.mean(cast("list[Array]", parts), axis=0))

    def _tested(self, task: int) -> Array:
        if len(self.runs) < 2:  # noqa: PLR2004
            return np.zeros(0)
        base = self._units(task, 0)
        apart = np.stack([self._units(task, place) - base for place in range(1, len(self.runs))], axis=1)
        return holm(randomization_test(apart, seed=self.seed))
