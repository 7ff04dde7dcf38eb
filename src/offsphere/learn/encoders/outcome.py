"""What a training came to on a task: before and after, as trained and by cosine, with intervals and tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from offsphere.base.arrays import Array
from offsphere.comparison.compare_scorers import RESAMPLES
from offsphere.comparison.table import ALPHA
from offsphere.learn.encoders.judging import Judge
from offsphere.statistics.difference import Difference
from offsphere.statistics.evaluation import Evaluation
from offsphere.statistics.significance import bootstrap, holm, interval, randomization_test

NAMES = ("before, by cosine", "trained, as trained", "trained, by cosine")
CONTRASTS = ((1, 0), (2, 0), (2, 1))  # what is tested, one less the other


class OutcomeRow(NamedTuple):
    """One way to score, and how it differs from the model before training by cosine; the first row does not."""

    name: str
    value: float
    low: float
    high: float
    gain: Difference | None


class Outcome(NamedTuple):
    """A task, the rows, and how cosine of the trained vectors differs from the score they were trained for.

    Where that score is cosine there are two rows, not three.
    """

    task: Mapping[str, Any]
    metric: str
    rows: Sequence[OutcomeRow]
    by_cosine: Difference

    @property
    def conclusion(self) -> str:
        """What to make of it, in a sentence or two."""
        gain = self.rows[1].gain
        assert gain is not None
        where = "above" if gain.difference > 0 else "below"
        sure = "" if gain.p < ALPHA else ", which may be luck"
        said = f"Scored as it was trained, the model is {where} what cosine found before ({_shown(gain)}{sure})."
        other = self.by_cosine
        if other.p < ALPHA and other.difference > 0:
            said += f" Cosine of the same vectors is above that ({_shown(other)}): train with both sides normalised."
        if other.p < ALPHA and other.difference < 0:
            said += f" Cosine of the same vectors is below that ({_shown(other)}): its lengths carry relevance."
        return said


def outcome_of(judge: Judge, evaluation: Evaluation, measured: Sequence[Array], seed: int = 0) -> Outcome:
    """From the measurements of the three ways, in their order."""
    samples = bootstrap(lambda weights: evaluation.evaluate_all(measured, weights), evaluation.units, RESAMPLES, seed)
    values = [float(evaluation.evaluate(one, np.ones((1, evaluation.units)))[0]) for one in measured]
    parts = [evaluation.contributions(one) for one in measured]
    tested = np.ones(len(CONTRASTS))
    if all(part is not None for part in parts):
        apart = np.stack([np.asarray(parts[one]) - np.asarray(parts[other]) for one, other in CONTRASTS], axis=1)
        tested = holm(randomization_test(apart, seed=seed))
    contrasts = []
    for (one, other), p in zip(CONTRASTS, tested.tolist(), strict=True):
        around = interval(samples[:, one] - samples[:, other])
        contrasts.append(Difference(values[one] - values[other], float(around.low), float(around.high), p))
    rows = []
    for place, name in enumerate(NAMES):
        own = interval(samples[:, place])
        gain = contrasts[place - 1] if place else None
        rows.append(OutcomeRow(name, values[place], float(own.low), float(own.high), gain))
    if np.array_equal(measured[1], measured[2]):
        rows.pop()
    return Outcome(judge.task.summary(), judge.metric, rows, contrasts[2])


def _shown(contrast: Difference) -> str:
    return f"{contrast.difference:+.4f} [{contrast.low:+.4f}, {contrast.high:+.4f}]"
