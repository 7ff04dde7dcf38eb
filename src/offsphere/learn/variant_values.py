"""Values, intervals and tests of all variants of an ablation, seeds averaged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from offsphere.comparing import RESAMPLES
from offsphere.learn.ablation import Result, VariantRow
from offsphere.learn.claims import Contrast
from offsphere.learn.variant_runs import VariantRun, best_trial
from offsphere.learn.variants import Variant
from offsphere.measuring import Measuring, value_of
from offsphere.significance import bootstrap, holm, interval, randomization_test

Array = NDArray[np.float64]


class VariantValues:
    """What the runs are worth on each task."""

    def __init__(self, judged: Sequence[Measuring], runs: Sequence[VariantRun], seed: int) -> None:
        self.judged, self.runs, self.seed = judged, runs, seed
        self.values = [[self._by_seed(task, run) for run in runs] for task in range(len(judged))]
        self.samples = [self._resampled(task) for task in range(len(judged))]  # (resamples, variants)
        self.p = [self._tested(task) for task in range(len(judged))]

    def row(self, place: int, variant: Variant) -> VariantRow:
        """What one variant came to."""
        run = self.runs[place]
        temperature, rate, _ = run.trials[best_trial(run.trials)].tolist()
        results = [self._result(task, place) for task in range(len(self.judged))]
        last = run.dynamics[-1]["negative_variance"] if run.dynamics else float("nan")
        query, document = run.exponents.mean(axis=0).tolist()
        held_out = float(run.held_out.mean())
        exponents = (query, document)
        return VariantRow(
            variant.name, temperature, rate, held_out, results, run.seconds, exponents, last, variant.same
        )

    def contrast(self, one: int, other: int, task: int) -> Contrast:
        """One variant less another."""
        around = interval(self.samples[task][:, one] - self.samples[task][:, other])
        difference = float(self.values[task][one].mean() - self.values[task][other].mean())
        p = randomization_test((self._units(task, one) - self._units(task, other))[:, None], seed=self.seed)
        return Contrast(difference, float(around.low), float(around.high), float(p[0]))

    def _result(self, task: int, place: int) -> Result:
        own, samples = self.values[task][place], self.samples[task]
        around, gained = interval(samples[:, place]), interval(samples[:, place] - samples[:, 0])
        return Result(
            float(own.mean()),
            float(around.low),
            float(around.high),
            float(own.std(ddof=1)) if len(own) > 1 else 0.0,
            float(own.mean() - self.values[task][0].mean()),
            float(gained.low),
            float(gained.high),
            float(self.p[task][place - 1]) if place else None,
        )

    def _by_seed(self, task: int, run: VariantRun) -> Array:
        return np.array([value_of(self.judged[task], measured) for measured in run.measured[task]])

    def _resampled(self, task: int) -> Array:
        """Each variant's mean over seeds in each resample of the queries."""
        evaluation = self.judged[task].evaluation
        seeds = len(self.runs[0].held_out)
        flat = [measured for run in self.runs for measured in run.measured[task]]
        found = bootstrap(
            lambda weights: evaluation.evaluate_all(flat, weights), evaluation.units, RESAMPLES, self.seed
        )
        return np.asarray(found.reshape(len(found), len(self.runs), seeds).mean(axis=2))

    def _units(self, task: int, place: int) -> Array:
        """What each query adds to the value, seeds averaged."""
        evaluation = self.judged[task].evaluation
        parts = [evaluation.contributions(measured) for measured in self.runs[place].measured[task]]
        return np.asarray(np.mean(cast("list[Array]", parts), axis=0))

    def _tested(self, task: int) -> Array:
        if len(self.runs) < 2:  # noqa: PLR2004
            return np.zeros(0)
        base = self._units(task, 0)
        apart = np.stack([self._units(task, place) - base for place in range(1, len(self.runs))], axis=1)
        return holm(randomization_test(apart, seed=self.seed))
