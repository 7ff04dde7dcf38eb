"""A row of a comparison: one scorer's held-out value, and how it differs from the baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from offsphere.base.arrays import Array
from offsphere.scoring.scorer import Scorer
from offsphere.statistics.significance import Tally

ALPHA = 0.05  # the chance of a false alarm that is taken
TUNED = " (tuned)"  # the end of the name of a family that was tuned over


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Row:
    """One scorer's held-out value and how it differs from the baseline."""

    name: str
    value: float
    low: float
    high: float
    difference: float
    difference_low: float
    difference_high: float
    p: float | None  # by which it is judged: alone where planned, else corrected; nothing for the baseline itself
    scorer: Scorer  # fitted, with the parameters chosen on all queries: what one would deploy
    parameters: Mapping[str, float]  # of that scorer
    fold_parameters: Sequence[Mapping[str, float]] = field(default=())  # chosen for each fold, where tuned
    same_ranking_as: Sequence[str] = field(default=())
    tally: Tally | None = None  # against the baseline, query by query
    values: Array | None = None  # per query, where the metric has such values
    tuned: bool = False  # whether its parameters were chosen by cross-validation
    p_alone: float | None = None  # as if nothing else had been compared
    planned: bool = (
        False  # whether it was asked for before any look: dot product, what a model declares or an index has
    )
    namesake: bool = False  # whether another row would deploy a scorer of the same name

    def __repr__(self) -> str:
        """The name, the value and what it gains, not the arrays."""
        gain = f"{self.difference:+.4f} [{self.difference_low:+.4f}, {self.difference_high:+.4f}]"
        return f"Row({self.label}: {self.value:.4f}{f', {gain}, p = {self.p:.2g}' if self.p is not None else ''})"

    @property
    def deployed(self) -> str:
        """The name of the scorer one would deploy."""
        return self.scorer.name if self.tuned else self.name

    @property
    def label(self) -> str:
        """The name of the scorer one would deploy, with a star where its parameters were tuned.

        Where another row deploys a scorer of that name too, the family that was tuned over stands behind it.
        """
        if not self.tuned:
            return self.name
        return f"{self.deployed} *" + (f" (of {self.name.removesuffix(TUNED)})" if self.namesake else "")

    @property
    def better(self) -> bool:
        """Whether it is significantly better than the baseline."""
        return self.p is not None and self.p < ALPHA and self.difference > 0

    @property
    def worse(self) -> bool:
        """Whether it is significantly worse than the baseline."""
        return self.p is not None and self.p < ALPHA and self.difference < 0


def label_apart(rows: Sequence[Row]) -> list[Row]:
    """Mark rows that would deploy scorers of one name, so that no two labels are the same.

    Args:
        rows: of one comparison.

    Returns:
        The same rows in the same order.
    """
    counts = Counter(row.deployed for row in rows)
    return [replace(row, namesake=counts[row.deployed] > 1) for row in rows]
