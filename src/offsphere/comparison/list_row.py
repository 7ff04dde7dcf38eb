"""A row of a comparison that is no scorer: the lists of another system, held against the baseline and the choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from offsphere.base.plain import plain
from offsphere.comparison.length_contrast import LengthContrast
from offsphere.comparison.row import MeasuredRow
from offsphere.statistics.significance import ALPHA


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class ListRow(MeasuredRow):
    """What another system's lists are worth: its value, how it differs from the baseline, and from what is recommended.

    There is nothing that could be saved or exported: its scores are no inner product of these vectors.

    Attributes:
        phrase: what the system does, in plain words.
        cost: what making the lists took, in plain words; empty where that is nothing.
        over_chosen: the value less that of the recommended row.
        over_chosen_low: the lower end of that difference's 95 % interval.
        over_chosen_high: its upper end.
        over_chosen_p: of that difference, corrected for the other lists; nothing where the baseline is recommended,
            since ``p`` says it already.
        contrast: what it gains over the same row without token lengths, where that was measured.
    """

    phrase: str
    cost: str = ""
    over_chosen: float
    over_chosen_low: float
    over_chosen_high: float
    over_chosen_p: float | None
    contrast: LengthContrast | None = None

    @property
    def label(self) -> str:
        """The name, with a star where a parameter was tuned, and a dagger since it cannot be exported."""
        return f"{self.name}{' *' if self.tuned else ''} †"

    @property
    def p_over_chosen(self) -> float | None:
        """The p of the difference from what is recommended, the baseline included."""
        return self.p if self.over_chosen_p is None else self.over_chosen_p

    @property
    def beats_choice(self) -> bool:
        """Whether it is significantly better than what is recommended."""
        return self.p_over_chosen is not None and self.p_over_chosen < ALPHA and self.over_chosen > 0

    @property
    def loses_to_choice(self) -> bool:
        """Whether it is significantly worse than what is recommended."""
        return self.p_over_chosen is not None and self.p_over_chosen < ALPHA and self.over_chosen < 0

    def to_json(self) -> dict[str, Any]:
        """Give everything but the values per query, as plain values."""
        names = ("phrase", "cost", "over_chosen", "over_chosen_low", "over_chosen_high", "over_chosen_p")
        values = self.values_as_plain() | {name: getattr(self, name) for name in names} | {"lowers": False}
        values["without_length"] = self.contrast._asdict() if self.contrast is not None else None
        return {name: plain(value) for name, value in values.items()}
