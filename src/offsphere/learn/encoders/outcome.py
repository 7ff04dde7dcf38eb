"""What a training came to on a task: before and after, as trained and by cosine, with intervals and tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsphere.comparing import RESAMPLES
from offsphere.evaluation import Evaluation
from offsphere.learn.encoders.judging import Judge
from offsphere.significance import bootstrap, holm, interval, randomization_test
from offsphere.tasks.info import describe_task

Array = NDArray[np.float64]
NAMES = ("before, by cosine", "trained, as trained", "trained, by cosine")


class OutcomeRow(NamedTuple):
    """One way to score, and how it differs from the model before training by cosine."""

    name: str
    value: float
    low: float
    high: float
    difference: float
    difference_low: float
    difference_high: float
    p: float | None  # corrected for both; nothing for the first


class Outcome(NamedTuple):
    """A task, and the rows."""

    task: Mapping[str, Any]
    metric: str
    rows: Sequence[OutcomeRow]


def outcome_of(judge: Judge, evaluation: Evaluation, measured: Sequence[Array], seed: int = 0) -> Outcome:
    """From the measurements of the three ways, in their order."""
    samples = bootstrap(lambda weights: evaluation.evaluate_all(measured, weights), evaluation.units, RESAMPLES, seed)
    values = [float(evaluation.evaluate(one, np.ones((1, evaluation.units)))[0]) for one in measured]
    parts = [evaluation.contributions(one) for one in measured]
    p: list[float | None] = [None, None, None]
    if parts[0] is not None:
        apart = np.stack([part - parts[0] for part in parts[1:] if part is not None], axis=1)
        p[1:] = holm(randomization_test(apart, seed=seed)).tolist()
    rows = []
    for place, name in enumerate(NAMES):
        own, gained = interval(samples[:, place]), interval(samples[:, place] - samples[:, 0])
        gain = values[place] - values[0]
        rows.append(
            OutcomeRow(
                name,
                values[place],
                float(own.low),
                float(own.high),
                gain,
                float(gained.low),
                float(gained.high),
                p[place],
            )
        )
    return Outcome(describe_task(judge.task), judge.metric, rows)
