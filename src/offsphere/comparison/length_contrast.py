"""Two rows that differ in nothing but whether tokens have a length: what that is worth, and whether it is chance."""

from __future__ import annotations

from typing import NamedTuple

from offsphere.statistics.significance import ALPHA
from offsphere.wording.written_numbers import certainty, chance


class LengthContrast(NamedTuple):
    """What a row gains over the same row without token lengths.

    Example:
        >>> LengthContrast("wrd", "wrd(uniform)", "spearman", 0.15, 0.12, 0.17, 0.001).verdict
        'it helps'
    """

    name: str
    without: str
    metric: str
    gain: float
    low: float
    high: float
    p: float  # corrected for all such pairs of rows

    @property
    def verdict(self) -> str:
        """Whether length helps here, in words."""
        return "no difference found" if not self.p < ALPHA else "it helps" if self.gain > 0 else "it hurts"

    @property
    def sentence(self) -> str:
        """What length is worth here, in words, and how sure that is."""
        sure = f", {certainty(self.p)}" if self.p < ALPHA else ""
        return (
            f"token length in {self.name}, against {self.without}: {self.metric} {self.gain:+.4f} "
            f"({self.low:+.4f} to {self.high:+.4f}), {chance(self.p)}: {self.verdict}{sure}"
        )
