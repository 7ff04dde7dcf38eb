"""A row of what storing costs: one scorer on one stored form of the vectors, held against itself on whole ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from offsphere.base.arrays import Array
from offsphere.base.plain import plain
from offsphere.comparison.row import Row
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.stored.stored_form import StoredForm
from offsphere.statistics.significance import ALPHA


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StoredRow:
    """One scorer on one stored form: its value, what that is less than on whole vectors, and the memory it takes.

    Attributes:
        name: the scorer and the form, as they are printed.
        of: the row of the same scorer on whole vectors.
        form: what is stored.
        scorer: searches the stored form, given the vectors of the model; the first step where results are re-ranked.
        vector_bytes: that a stored vector takes; what re-ranking reads is not counted.
        whole_bytes: that the vector takes in float32, with all of its numbers.
        value: of the metric.
        low: the lower end of the value's 95 % interval.
        high: its upper end.
        change: the value less that of the same scorer on whole vectors: what storing does.
        change_low: the lower end of the change's 95 % interval.
        change_high: its upper end.
        change_p: of the change, two-sided, corrected for all other stored rows.
        costs_at_most: what storing costs at most, a bound that holds for all stored rows together, sure to 95 %.
        difference: the value less the baseline's.
        difference_low: the lower end of the difference's 95 % interval.
        difference_high: its upper end.
        p: of the difference, corrected for all other stored rows; nothing where the scorer was only stored because it
            came out best, for then its place in the table is no accident.
        values: per query, where the metric has such values.
    """

    name: str
    of: Row
    form: StoredForm
    scorer: Scorer
    vector_bytes: int
    whole_bytes: int
    value: float
    low: float
    high: float
    change: float
    change_low: float
    change_high: float
    change_p: float
    costs_at_most: float
    difference: float
    difference_low: float
    difference_high: float
    p: float | None
    values: Array | None = None

    @property
    def label(self) -> str:
        """The name under which it stands in a table."""
        return self.name

    def __repr__(self) -> str:
        """The name, the value, the change and the bytes, not the arrays."""
        change = f"{self.change:+.4f} [{self.change_low:+.4f}, {self.change_high:+.4f}]"
        return (
            f"StoredRow({self.name}: {self.value:.4f}, {change}, {self.vector_bytes:,} of {self.whole_bytes:,} bytes)"
        )

    @property
    def share(self) -> float:
        """The memory it takes, as a share of that of whole vectors."""
        return self.vector_bytes / self.whole_bytes

    @property
    def loses(self) -> bool:
        """Whether storing surely costs something."""
        return self.change_p < ALPHA and self.change < 0

    def to_json(self) -> dict[str, Any]:
        """Give everything but scorer and values per query, as plain values."""
        names = ("value", "low", "high", "change", "change_low", "change_high", "change_p", "costs_at_most")
        against = ("difference", "difference_low", "difference_high", "p")
        values = {
            "name": self.name,
            "scorer": self.of.deployed,
            "row": self.of.name,
            "stored_as": self.form.name,
            "phrase": self.form.phrase,
            "vector_bytes": self.vector_bytes,
            "whole_bytes": self.whole_bytes,
            "reranked": self.form.oversampling,
            **{name: getattr(self, name) for name in (*names, *against)},
        }
        return {name: plain(value) for name, value in values.items()}
