"""A row of a comparison: one scorer's held-out value, and how it differs from the baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from offsphere.base.arrays import Array
from offsphere.scoring.scorer import Scorer
from offsphere.statistics.significance import ALPHA, Tally
from offsphere.wording.written_numbers import chance

TUNED = " (tuned)"  # the end of the name of a family that was tuned over


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class MeasuredRow:
    """A held-out value and how it differs from the baseline, whatever was measured."""

    name: str
    value: float
    low: float
    high: float
    difference: float
    difference_low: float
    difference_high: float
    p: float | None  # by which it is judged: alone where planned, else corrected; nothing for the baseline itself
    parameters: Mapping[str, float]  # chosen on all queries
    fold_parameters: Sequence[Mapping[str, float]] = field(default=())  # chosen for each fold, where tuned
    tally: Tally | None = None  # against the baseline, query by query
    values: Array | None = None  # per query, where the metric has such values
    tuned: bool = False  # whether its parameters were chosen by cross-validation
    p_alone: float | None = None  # as if nothing else had been compared

    @property
    def label(self) -> str:
        """The name under which it stands in a table."""
        return self.name

    def __repr__(self) -> str:
        """The name, the value and what it gains, not the arrays."""
        gain = f"{self.difference:+.4f} [{self.difference_low:+.4f}, {self.difference_high:+.4f}]"
        told = f", {gain}, {chance(self.p)}" if self.p is not None else ""
        return f"{type(self).__name__}({self.label}: {self.value:.4f}{told})"

    @property
    def better(self) -> bool:
        """Whether it is significantly better than the baseline."""
        return self.p is not None and self.p < ALPHA and self.difference > 0

    @property
    def worse(self) -> bool:
        """Whether it is significantly worse than the baseline."""
        return self.p is not None and self.p < ALPHA and self.difference < 0

    def values_as_plain(self) -> dict[str, Any]:
        """Give what every row has, as plain values for JSON."""
        return {
            "name": self.name,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "difference": self.difference,
            "difference_low": self.difference_low,
            "difference_high": self.difference_high,
            "p": self.p,
            "p_alone": self.p_alone,
            "parameters": dict(self.parameters),
            "fold_parameters": [dict(parameters) for parameters in self.fold_parameters],
            "win_tie_loss": list(self.tally) if self.tally is not None else None,
        }


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Row(MeasuredRow):
    """One scorer's held-out value and how it differs from the baseline."""

    scorer: Scorer  # fitted, with the parameters chosen on all queries: what one would deploy
    same_ranking_as: Sequence[str] = field(default=())
    planned: bool = (
        False  # whether it was asked for before any look: dot product, what a model declares or an index has
    )
    namesake: bool = False  # whether another row would deploy a scorer of the same name

    @property
    def deployed(self) -> str:
        """The name of the scorer one would deploy."""
        return self.scorer.name if self.tuned else self.name

    @property
    def phrase(self) -> str:
        """What the scorer does, in plain words."""
        return self.scorer.phrase

    @property
    def label(self) -> str:
        """The name of the scorer one would deploy, with a star where its parameters were tuned.

        Where another row deploys a scorer of that name too, the family that was tuned over stands behind it.
        """
        if not self.tuned:
            return self.name
        return f"{self.deployed} *" + (f" (of {self.name.removesuffix(TUNED)})" if self.namesake else "")


def label_apart(rows: Sequence[Row]) -> list[Row]:
    """Mark rows that would deploy scorers of one name, so that no two labels are the same.

    Args:
        rows: of one comparison.

    Returns:
        The same rows in the same order.
    """
    counts = Counter(row.deployed for row in rows)
    return [replace(row, namesake=counts[row.deployed] > 1) for row in rows]
