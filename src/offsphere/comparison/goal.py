"""What a threshold is to keep: a share of relevant results, a share of what is relevant, or few false alarms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from offsphere.base.errors import ParameterError
from offsphere.comparison.shown import ScoredQueries
from offsphere.statistics.risk_control import (
    highest_with_recall,
    least_for_risk,
    least_for_tests,
    lowest_with_few_alarms,
    lowest_with_precision,
)

GoalKind = Literal["precision", "recall", "false alarms"]
ERROR = 0.1  # the chance that a promise of precision is not kept
GRID = 60  # thresholds that are tested for it
LAID_DOWN = 5  # one query of so many lays down the grid, the others test it


@dataclass(frozen=True, slots=True)
class Goal:
    """One of three promises, and how much of it.

    Args:
        kind: ``precision``, ``recall`` or ``false alarms``.
        level: a share between 0 and 1.

    Raises:
        ParameterError: where the level is no such share.
    """

    kind: GoalKind
    level: float

    def __post_init__(self) -> None:
        """Refuse what cannot be promised."""
        if not 0 < self.level < 1:
            raise ParameterError(f"{self.kind} = {self.level}: give a share between 0 and 1, such as 0.9")

    @classmethod
    def of(cls, precision: float | None, recall: float | None, false_alarms: float | None) -> Goal:
        """The one goal that was given."""
        kinds: tuple[GoalKind, ...] = ("precision", "recall", "false alarms")
        given = [
            (kind, level)
            for kind, level in zip(kinds, (precision, recall, false_alarms), strict=True)
            if level is not None
        ]
        if len(given) != 1:
            raise ParameterError("a threshold keeps one promise: give one of precision, recall and false alarms")
        return cls(*given[0])

    @property
    def alpha(self) -> float:
        """What may go wrong."""
        return self.level if self.kind == "false alarms" else 1 - self.level

    @property
    def fewest_queries(self) -> int:
        """How many judged queries it takes before anything can be promised."""
        if self.kind == "precision":
            return -(-least_for_tests(self.alpha, ERROR) * LAID_DOWN // (LAID_DOWN - 1))
        return least_for_risk(self.alpha)

    @property
    def promise(self) -> str:
        """What the guarantee says, with what it assumes."""
        assumed = "if queries to come are like the judged ones (exchangeable) and what nobody judged is not relevant"
        share = f"{self.level:.0%}" if round(100 * self.level, 9).is_integer() else f"{self.level:.1%}"
        said = {
            "recall": f"the next query is shown, in expectation, at least {share} of what is relevant to it",
            "false alarms": f"a query to which nothing is relevant is shown something with a chance of at most {share}",
            "precision": f"with {1 - ERROR:.0%} confidence, at least {share} of what a query is shown is relevant, on "
            "average over queries that are shown something",
        }
        return f"{said[self.kind]}, {assumed}".replace("%", " %")

    def threshold(self, scored: ScoredQueries, seed: int) -> float | None:
        """Choose a threshold that keeps the promise.

        Args:
            scored: the lists of judged queries.
            seed: of which queries lay down the grid of a promise of precision.

        Returns:
            The threshold; nothing where none can be promised to keep it.
        """
        if len(scored.scores) < self.fewest_queries:
            return None
        if self.kind == "recall":
            shown = scored.relevant & np.isfinite(scored.scores)
            shares = np.broadcast_to(1 / scored.totals[:, None], shown.shape)
            return highest_with_recall(scored.scores[shown], shares[shown], len(shown), self.alpha)
        if self.kind == "false alarms":
            return lowest_with_few_alarms(scored.highest_wrong, self.alpha)
        return self._by_tests(scored, seed)

    def _by_tests(self, scored: ScoredQueries, seed: int) -> float | None:
        """Let some queries lay down a grid of thresholds, and test it on the others."""
        order = np.random.default_rng(seed).permutation(len(scored.scores))
        laid, tested = np.split(order, [max(1, len(order) // LAID_DOWN)])
        best = scored.scores[laid]
        known = best[np.isfinite(best)]
        if not len(known):
            return None
        # half of it by where queries begin to be shown something, half by all that could be shown
        first = best[:, 0][np.isfinite(best[:, 0])]
        halves = [np.quantile(some, np.linspace(0, 1, GRID // 2)) for some in (first if len(first) else known, known)]
        grid = np.unique(np.concatenate(halves))
        shown, right = scored.only(tested).counts(grid)
        return lowest_with_precision(grid, shown, right, self.alpha, ERROR)
