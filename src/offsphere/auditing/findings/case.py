"""What the rules of advice judge by, what they say, and words that several of them use."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, Literal, NamedTuple

from offsphere.base.errors import UnknownNameError
from offsphere.comparison.choice import Choice
from offsphere.comparison.row import Row
from offsphere.comparison.table import Comparison
from offsphere.geometry.shape import Geometry

Topic = Literal["scorer", "length", "expectation", "training", "wrong"]

FEWEST_UNITS = 10  # queries or pairs below which nothing can be told


class Finding(NamedTuple):
    """A sentence, what it is about, and the numbers it rests on."""

    topic: Topic
    sentence: str
    numbers: Mapping[str, Any]


class Case(NamedTuple):
    """All evidence there is to judge by."""

    table: Comparison
    shape: Geometry
    choice: Choice
    symmetric: bool
    declared: str | None

    @property
    def units(self) -> tuple[int, str]:
        """How many queries or pairs there are, and which of the two they are."""
        task = self.table.task
        return (int(task["pairs"]), "pairs") if task["kind"] == "pairs" else (int(task["queries"]), "queries")

    def row(self, name: str) -> Row | None:
        """The row of that name; nothing where no such scorer was compared."""
        try:
            return self.table[name]
        except UnknownNameError:
            return None

    @property
    def normalised(self) -> bool:
        """Whether length was discarded, so that for this metric the dot product is cosine."""
        lengths = self.shape.lengths
        if not lengths or not lengths[-1].normalised:
            return False
        baseline = self.table[self.table.baseline]
        return "dot" in (baseline.name, *baseline.same_ranking_as)

    @property
    def unreadable(self) -> bool:
        """Whether even the baseline agrees with the gold scores less than chance would, or has no value."""
        baseline = self.table[self.table.baseline]
        return not isfinite(baseline.value) or (self.table.task["kind"] == "pairs" and baseline.high < 0)


def gain_or_loss(row: Row) -> str:
    """What a scorer does against the baseline, as a verb and a number."""
    if f"{row.difference:.4f}".strip("-0.") == "":
        return "neither gains nor loses"
    return f"{'gains' if row.difference > 0 else 'loses'} {abs(row.difference):.4f}"


def difference_with_interval(row: Row) -> str:
    """How far a scorer is from the baseline, with the interval of that."""
    return f"{row.difference:+.4f} [{row.difference_low:+.4f}, {row.difference_high:+.4f}]"
