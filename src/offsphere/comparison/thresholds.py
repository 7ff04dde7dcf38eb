"""Where to cut: the score above which a result is shown, with a guarantee, and what it will really give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.errors import ParameterError, UnknownNameError
from offsphere.base.plain import plain
from offsphere.base.progress import Progress
from offsphere.comparison.goal import Goal
from offsphere.comparison.shown import ScoredQueries, ThresholdOutcome, threshold_outcome
from offsphere.data.call_order import check_order
from offsphere.data.ranking_task import RankingTask
from offsphere.data.task import Task, TaskVectors
from offsphere.data.task_kinds import as_ranking
from offsphere.data.task_vectors import RankingVectors
from offsphere.scoring.cut import Cut
from offsphere.scoring.given_scorer import fitted_scorer, one_or_more
from offsphere.scoring.names import parse_scorer, read_scorer
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.standardize_queries import standardize_queries
from offsphere.statistics.cross_validation import assign_folds, few_folds
from offsphere.statistics.metrics import parse_metric

DEPTH = 100  # documents a query that can be shown at all
STANDARDISED = "z-score"
DEFAULT_SCORERS = ("cosine", "dot", STANDARDISED)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ThresholdRow:
    """The threshold of one scorer.

    Attributes:
        scorer: fitted; ``row.save(folder)`` writes both.
        threshold: what scores at least this is shown; nothing where no threshold keeps the promise.
        outcome: what it gives on queries that took no part in its choice, by cross-fitting.
        kept: how much of its ranking one threshold for all queries keeps: the average precision of all queries'
            results in one pool, over the mean of the queries' own.
        elsewhere: what it gives on the other data, where there is some.
        curve: thresholds and what each gives on all queries: (threshold, precision, recall, false alarms) a row.
    """

    scorer: Scorer
    threshold: float | None
    outcome: ThresholdOutcome | None
    kept: float
    elsewhere: ThresholdOutcome | None
    curve: Array

    @property
    def name(self) -> str:
        """The name of the scorer."""
        return self.scorer.name

    def __repr__(self) -> str:
        """The name and the threshold, not the arrays."""
        return f"ThresholdRow({self.name}: {self.threshold if self.threshold is not None else 'none'})"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Thresholds:
    """Thresholds of several scorers for one promise, side by side.

    Attributes:
        goal: what is promised.
        task: where they were chosen, in plain values.
        also: where they were tried as well, in plain values.
        rows: a row a scorer, in the order in which they were asked for.
        notes: what one must know to read them.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> rows = np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32)
        >>> judged = {f"q{row}": {f"d{row}": 1} for row in range(60)}
        >>> task = osp.RankingTask.from_judgments(judged, [f"d{row}" for row in range(60)])
        >>> chosen = osp.threshold(task, task.vectors(rows, rows), ["cosine"], recall=0.9)
        >>> chosen.best.name, chosen.goal.kind, chosen["cosine"].threshold > 0.99
        ('cosine', 'recall', True)
    """

    goal: Goal
    task: dict[str, Any]
    also: dict[str, Any] | None
    rows: Sequence[ThresholdRow]
    notes: Sequence[str]

    def __getitem__(self, name: str) -> ThresholdRow:
        """Find the row of the scorer of that name.

        Args:
            name: of the scorer, as it is printed.

        Returns:
            The row.

        Raises:
            UnknownNameError: where there is no threshold for such a scorer.
        """
        for row in self.rows:
            if row.name == name:
                return row
        raise UnknownNameError("scorer", name, [row.name for row in self.rows])

    def __repr__(self) -> str:
        """The promise and the thresholds."""
        return f"Thresholds({self.goal.kind} {self.goal.level:g}: {', '.join(map(repr, self.rows))})"

    @property
    def best(self) -> ThresholdRow | None:
        """The scorer that gives most beside the promise: most recall, or for a promise of recall most precision."""
        beside = "precision" if self.goal.kind == "recall" else "recall"
        known = [row for row in self.rows if row.outcome is not None]
        return max(known, key=lambda row: np.nan_to_num(getattr(row.outcome, beside)[0]), default=None)

    def save(self, folder: str | Path, name: str | None = None) -> None:
        """Write a scorer with its threshold.

        Args:
            folder: where to.
            name: of the scorer; the best unless said.

        Raises:
            ParameterError: where there is no threshold to save.
        """
        row = self.best if name is None else self[name]
        if row is None or row.threshold is None:
            raise ParameterError(f"there is no threshold to save: none keeps {self.goal.kind} {self.goal.level:g}")
        row.scorer.save(folder)
        Cut(row.threshold, self.goal.promise, row.scorer.key).save(Path(folder))

    def to_json(self) -> dict[str, Any]:
        """Give everything but the curves as plain values, for JSON."""
        rows = [
            {
                "scorer": row.name,
                "threshold": row.threshold,
                "kept": row.kept,
                "outcome": plain(row.outcome),
                "elsewhere": plain(row.elsewhere),
            }
            for row in self.rows
        ]
        values = {
            "goal": self.goal.kind,
            "level": self.goal.level,
            "promise": self.goal.promise,
            "task": self.task,
            "also": self.also,
            "best": self.best.name if self.best is not None else None,
            "notes": list(self.notes),
        }
        return {name: plain(value) for name, value in values.items()} | {"scorers": [plain(row) for row in rows]}


def threshold(
    task: Task,
    vectors: TaskVectors,
    scorers: Scorer | str | Sequence[Scorer | str] | None = None,
    *,
    precision: float | None = None,
    recall: float | None = None,
    false_alarms: float | None = None,
    also: tuple[Task, TaskVectors] | None = None,
    folds: int = 5,
    seed: int = 0,
    progress: Progress | None = None,
) -> Thresholds:
    """Find the score above which results are to be shown, so that a promise is kept.

    Args:
        task: queries, documents and judgments.
        vectors: of the task.
        scorers: names or scorers; cosine, dot, and cosine standardised query by query unless said. ``z-score`` stands
            for the last.
        precision: promise that so much of what is shown is relevant.
        recall: promise that so much of what is relevant is shown.
        false_alarms: promise that a query to which nothing is relevant is shown something so seldom.
        also: other data, with vectors of the same model: do the thresholds carry over to it?
        folds: of the cross-fitting by which is said what a threshold really gives.
        seed: of folds and intervals.
        progress: is told how far it is.

    Returns:
        A row a scorer: its threshold from all queries, and what thresholds from other queries gave on each.

    Raises:
        ParameterError: where not one promise is given, the task has pairs, or it has too few queries for the promise.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> rng = np.random.default_rng(0)
        >>> documents = rng.normal(size=(400, 8)).astype(np.float32)
        >>> queries = documents[:80] + rng.normal(0, 0.4, (80, 8)).astype(np.float32)
        >>> judged = {f"q{row}": {f"d{row}": 1} for row in range(80)}
        >>> task = osp.RankingTask.from_judgments(judged, [f"d{row}" for row in range(400)])
        >>> chosen = osp.threshold(task, task.vectors(queries, documents), ["cosine"], recall=0.9)
        >>> 0.7 < chosen["cosine"].threshold < 0.9, chosen["cosine"].outcome.recall[0] > 0.85
        (True, True)
    """
    check_order("threshold", task, vectors)
    goal = Goal.of(precision, recall, false_alarms)
    return thresholds_for(goal, task, vectors, scorers, also=also, folds=folds, seed=seed, progress=progress)


def thresholds_for(
    goal: Goal,
    task: Task,
    vectors: TaskVectors,
    scorers: Scorer | str | Sequence[Scorer | str] | None = None,
    *,
    also: tuple[Task, TaskVectors] | None = None,
    folds: int = 5,
    seed: int = 0,
    progress: Progress | None = None,
) -> Thresholds:
    """Find thresholds for a promise that is an object already; all else is as for ``threshold``."""
    if folds < 2 or seed < 0:  # noqa: PLR2004
        raise ParameterError(f"folds = {folds}, seed = {seed}: cross-fitting needs at least 2, a seed at least 0")
    home, home_vectors = _ranking(task, vectors)
    if task.units < goal.fewest_queries:
        raise ParameterError(
            f"{goal.kind} {goal.level:g} cannot be promised from {task.units} judged queries: it takes at least "
            f"{goal.fewest_queries}"
        )
    named = [_scorer(scorer, home_vectors) for scorer in one_or_more(scorers or DEFAULT_SCORERS)]
    other = _ranking(*also) if also is not None else None
    rows = []
    for number, scorer in enumerate(named):
        if progress is not None:
            progress(number, len(named), scorer.name)
        rows.append(_row(goal, scorer, home, home_vectors, other, folds, seed))
    notes = [f"{row.name}: {_why_none(goal)}" for row in rows if row.threshold is None]
    notes += few_folds(task.units, task.unit, folds)
    if task.units - -(-task.units // folds) < goal.fewest_queries:
        notes.append(
            f"without a fold {task.units} queries are fewer than the {goal.fewest_queries} that the promise takes, so "
            "that it cannot be said what a threshold gives on others"
        )
    if task.made is not None:
        notes.append(f"the judgments were made by a program, not by people: {task.made}")
    return Thresholds(
        goal=goal, task=task.summary(), also=other[0].summary() if other is not None else None, rows=rows, notes=notes
    )


def _row(
    goal: Goal,
    scorer: Scorer,
    task: RankingTask,
    vectors: RankingVectors,
    other: tuple[RankingTask, RankingVectors] | None,
    folds: int,
    seed: int,
) -> ThresholdRow:
    """Choose and judge the threshold of one scorer."""
    scored = _scored(task, vectors, scorer)
    chosen = goal.threshold(scored, seed)
    parts = assign_folds(task.units, folds, seed)
    by_fold = [goal.threshold(scored.only(parts != fold), seed) for fold in range(int(parts.max()) + 1)]
    outcome = None
    if chosen is not None and all(value is not None for value in by_fold):
        outcome = threshold_outcome(scored, np.array(by_fold, np.float64)[parts], seed)
    elsewhere = None
    if other is not None and chosen is not None:
        there = _scored(*other, _moved(scorer, other[1]))
        elsewhere = threshold_outcome(there, np.full(other[0].units, chosen), seed)
    return ThresholdRow(
        scorer=scorer,
        threshold=chosen,
        outcome=outcome,
        kept=_kept(scored),
        elsewhere=elsewhere,
        curve=_curve(scored),
    )


def _ranking(task: Task, vectors: TaskVectors) -> tuple[RankingTask, RankingVectors]:
    """The task and its vectors, known to have lists."""
    ranking = as_ranking(task, vectors)
    if ranking is None:
        raise ParameterError(
            f"{task.name} has no lists of results: a threshold says which of them are shown, so it takes a ranking"
        )
    task.check(vectors)
    return ranking


def named_scorer(text: str) -> Scorer | str:
    """Read a scorer by its name or folder; what ends in ``z-score`` stays a name, since a corpus makes it.

    Args:
        text: such as ``cosine``, ``whiten(0.5) + z-score``, or the folder of a saved scorer.
    """
    *before, last = (part.strip() for part in text.split("+"))
    if last != STANDARDISED:
        return read_scorer(text)
    parse_scorer(" + ".join(before) or "cosine")  # what is misspelt is refused at once
    return text


def _scorer(scorer: Scorer | str, vectors: RankingVectors) -> Scorer:
    """A scorer by its name, fitted on the documents; ``z-score`` is cosine on one scale for all queries."""
    known = named_scorer(scorer) if isinstance(scorer, str) else scorer
    if isinstance(known, Scorer):
        return fitted_scorer(known, vectors.fitted_on)
    base = parse_scorer(known.rpartition("+")[0].strip() or "cosine")
    return standardize_queries(fitted_scorer(base, vectors.fitted_on), vectors.documents)


def _moved(scorer: Scorer, vectors: RankingVectors) -> Scorer:
    """The scorer for other documents: one scale for all queries is made anew from them, which takes no judgments."""
    if scorer.standardization is None:
        return scorer
    return standardize_queries(replace(scorer, standardization=None), vectors.documents)


def _scored(task: RankingTask, vectors: RankingVectors, scorer: Scorer) -> ScoredQueries:
    """The lists of a scorer with what is relevant in them."""
    evaluator = task.evaluator(vectors, parse_metric(f"recall@{DEPTH}"), np.zeros(task.units, np.int64))
    return ScoredQueries.of(evaluator, scorer, task.judgments.relevant, DEPTH)


def _kept(scored: ScoredQueries) -> float:
    """The average precision of the pool, over that of the queries: every query counts as much in both."""
    shares = np.where(scored.relevant, 1 / scored.totals[:, None], 0.0)
    hits = np.cumsum(scored.relevant, axis=1)
    own = (hits / (1 + np.arange(hits.shape[1])) * shares).sum(axis=1).mean()
    order = np.argsort(-scored.scores.ravel(), kind="stable")
    relevant = scored.relevant.ravel()[order]
    precision = np.cumsum(relevant) / (1 + np.arange(len(order)))
    pooled = float((precision * shares.ravel()[order]).sum() / len(shares))
    return pooled / float(own) if own > 0 else float("nan")


def _curve(scored: ScoredQueries, points: int = 80) -> Array:
    """Thresholds from the highest score to the lowest, and what each gives on all queries."""
    known = scored.scores[np.isfinite(scored.scores)]
    grid = np.unique(np.quantile(known, 1 - (1 - np.linspace(0, 1, points)) ** 3)) if len(known) else np.zeros(1)
    shown, right = scored.counts(grid)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.where(shown > 0, right / np.maximum(shown, 1), 0.0).sum(axis=0) / (shown > 0).sum(axis=0)
    recall = (right / scored.totals[:, None]).mean(axis=0)
    alarms = (scored.highest_wrong[:, None] >= grid).mean(axis=0)
    return np.stack([grid, precision, recall, alarms], axis=1)


def _why_none(goal: Goal) -> str:
    """Say why no threshold keeps the promise."""
    if goal.kind == "recall":
        return f"no threshold: even the first {DEPTH} documents of each query hold less than that of what is relevant"
    return "no threshold: at none do enough queries show that so much of what is shown is relevant"
