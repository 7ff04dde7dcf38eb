"""What decides over many tasks whether length helps: predictors of its gain, symmetry, and what is safe everywhere.

Rows of one task under several models are not independent: every interval is over tasks, and what is left out, to see
whether a conclusion hangs on it, is a task with all its models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from offsphere.auditing.study.study_row import StudyRow
from offsphere.base.arrays import Array, Index
from offsphere.base.plain import plain
from offsphere.base.short_repr import short_repr
from offsphere.statistics.correlation import correlation
from offsphere.statistics.estimate import UNDEFINED, Estimate, quantile_95
from offsphere.statistics.random_effects import RandomEffects, random_effects
from offsphere.statistics.significance import ALPHA
from offsphere.wording.study_words import PREDICTORS, study_sentences

FEWEST_TASKS = 5  # below, no interval over tasks has a meaning


class Predictor(NamedTuple):
    """How a number that is known of each row goes with what the dot product gains."""

    name: str
    rows: int
    tasks: int
    correlation: Estimate  # Spearman's, with an interval over tasks
    without_one: tuple[float, float] | None  # its least and greatest value when one task is left out
    explained: float | None  # of the variance of gains in a task left out, by a line through all others; below 0: none


class SafeScorer(NamedTuple):
    """What one scorer does over all rows that compared it."""

    name: str
    rows: int
    mean: float  # gain over cosine, each task counting alike
    worst: float
    worst_row: str
    surely_worse: int
    surely_better: int

    @property
    def safe(self) -> bool:
        """Whether it is nowhere surely worse than cosine."""
        return not self.surely_worse


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MetaAnalysis:
    """What all rows say together.

    Attributes:
        rows: How many cells there are.
        tasks: How many tasks.
        dot: What the dot product gains over cosine, over tasks.
        symmetric: The same on tasks whose sides could be exchanged, and on the others.
        predictors: What goes with that gain.
        scorers: What each scorer does that was compared everywhere, best mean first.
        following: What following the tool gains, over tasks.
        carried_over: What the scorer gains on a task that is best on average on all others; mean over tasks.
    """

    rows: int
    tasks: int
    dot: RandomEffects | None
    symmetric: RandomEffects | None
    asymmetric: RandomEffects | None
    predictors: Sequence[Predictor]
    scorers: Sequence[SafeScorer]
    following: RandomEffects | None
    carried_over: Estimate | None

    __repr__ = short_repr

    @property
    def sentences(self) -> list[str]:
        """What it says, in plain words."""
        return study_sentences(plain(self))

    def to_json(self) -> dict[str, Any]:
        """The numbers and the sentences, as plain values."""
        return {"sentences": self.sentences, **plain(self)}


def meta_analysis(rows: Sequence[StudyRow]) -> MetaAnalysis:
    """Analyse the rows of a study together.

    Args:
        rows: One for each task under each model.

    Returns:
        The conclusions, each with an interval over tasks where there are enough of them.
    """
    with_dot = [row for row in rows if row.dot is not None and row.dot["gain"] is not None]
    halves = {side: [row for row in with_dot if row.symmetric is side] for side in (True, False)}
    return MetaAnalysis(
        rows=len(rows),
        tasks=len({row.task for row in rows}),
        dot=_pooled(with_dot, "dot"),
        symmetric=_pooled(halves[True], "dot"),
        asymmetric=_pooled(halves[False], "dot"),
        predictors=[_predictor(name, with_dot) for name in PREDICTORS],
        scorers=_scorers(rows),
        following=_pooled([row for row in rows if row.choice is not None], "choice"),
        carried_over=_carried_over(rows),
    )


def predictor_value(row: StudyRow, predictor: str) -> float | None:
    """What a row says of a predictor; nothing where it was not measured."""
    if predictor == "skew":
        return row.gini - row.gini_by_chance if row.gini is not None and row.gini_by_chance is not None else None
    if predictor in ("ceiling_gain", "curve_gain"):
        change = row.ceiling if predictor == "ceiling_gain" else row.ceiling_length
        return change["gain"] if change is not None else None
    value: float | None = getattr(row, predictor)
    return value


def _pooled(rows: Sequence[StudyRow], what: str) -> RandomEffects | None:
    """The mean of a gain over tasks; the rows of one task are averaged first, and count as one."""
    by_task: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        change = getattr(row, what)
        if None not in (change["gain"], change["low"], change["high"]):
            error = (change["high"] - change["low"]) / (2 * 1.959964)
            by_task.setdefault(row.task, []).append((change["gain"], error))
    if not by_task:
        return None
    effects = np.array([np.mean([gain for gain, _ in each]) for each in by_task.values()])
    errors = np.array([np.mean([error for _, error in each]) for each in by_task.values()])  # models share the queries
    return random_effects(effects, errors)


def _predictor(name: str, rows: Sequence[StudyRow]) -> Predictor:
    """Correlate a predictor with what the dot product gains."""
    known = [row for row in rows if predictor_value(row, name) is not None]
    x = np.array([predictor_value(row, name) for row in known], np.float64)
    y = np.array([row.dot["gain"] for row in known if row.dot is not None], np.float64)
    groups = np.unique([row.task for row in known], return_inverse=True)[1]
    tasks = len(np.unique(groups))
    if tasks < FEWEST_TASKS or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Predictor(name, len(known), tasks, UNDEFINED, None, None)
    left_out = [_spearman(x[groups != task], y[groups != task]) for task in range(tasks)]
    spearman = correlation(x, y, groups).spearman
    return Predictor(name, len(known), tasks, spearman, (min(left_out), max(left_out)), _explained(x, y, groups))


def _spearman(x: Array, y: Array) -> float:
    from scipy.stats import rankdata

    first, second = rankdata(x), rankdata(y)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def _explained(x: Array, y: Array, groups: Index) -> float:
    """One less the squared error of predicting each task by a line through the others, over that by their mean."""
    by_line = by_mean = 0.0
    for task in range(int(groups.max()) + 1):
        left, others = groups == task, groups != task
        slope, start = np.polyfit(x[others], y[others], 1) if np.ptp(x[others]) else (0.0, y[others].mean())
        by_line += float(((y[left] - (start + slope * x[left])) ** 2).sum())
        by_mean += float(((y[left] - y[others].mean()) ** 2).sum())
    return 1 - by_line / by_mean if by_mean > 0 else 0.0


def _gains(rows: Sequence[StudyRow]) -> tuple[list[str], Array]:
    """The scorers that every row has, and what each gains there: (rows, scorers)."""
    names = [name for name in rows[0].scorers if all(row.scorers.get(name, {}).get("gain") is not None for row in rows)]
    return names, np.array([[row.scorers[name]["gain"] for name in names] for row in rows]).reshape(len(rows), -1)


def _task_means(rows: Sequence[StudyRow], gains: Array) -> Array:
    """The mean over each task's rows: (tasks, scorers)."""
    tasks = [row.task for row in rows]
    return np.stack([gains[[name == task for name in tasks]].mean(axis=0) for task in dict.fromkeys(tasks)])


def _scorers(rows: Sequence[StudyRow]) -> list[SafeScorer]:
    names, gains = _gains(rows)
    if not names:
        return []
    means = _task_means(rows, gains).mean(axis=0)
    scorers = []
    for number, name in enumerate(names):
        column = gains[:, number]
        sure = [row.scorers[name]["p"] is not None and row.scorers[name]["p"] < ALPHA for row in rows]
        worst = int(np.argmin(column))
        scorers.append(
            SafeScorer(
                name=name,
                rows=len(rows),
                mean=float(means[number]),
                worst=float(column[worst]),
                worst_row=rows[worst].label,
                surely_worse=int((column[sure] < 0).sum()),
                surely_better=int((column[sure] > 0).sum()),
            )
        )
    return sorted(scorers, key=lambda each: -each.mean)


def _carried_over(rows: Sequence[StudyRow]) -> Estimate | None:
    """What is gained on each task by the scorer that is best on average on all others."""
    names, gains = _gains(rows)
    if not names:
        return None
    means = _task_means(rows, gains)
    if len(means) < FEWEST_TASKS:
        return None
    chosen = [int(np.argmax(np.delete(means, task, axis=0).mean(axis=0))) for task in range(len(means))]
    values = means[np.arange(len(means)), chosen]
    half = quantile_95(len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return Estimate(float(values.mean()), float(values.mean() - half), float(values.mean() + half))
