"""What the rules of advice judge by: all evidence there is, and what several of them ask of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from offsphere.comparison.choice import Choice
from offsphere.comparison.table import Comparison
from offsphere.comparison.verdict import dot_numbers, has_enough, is_unreadable, ranks_as_dot, units_of
from offsphere.engines.deployed.deployment import Deployment
from offsphere.geometry.relevance import Relevance
from offsphere.geometry.shape import Geometry


class Case(NamedTuple):
    """All evidence there is to judge by."""

    table: Comparison
    shape: Geometry
    choice: Choice
    symmetric: bool
    deployment: Deployment | None = None

    @property
    def declared(self) -> str | None:
        """The similarity that the model says it is to be scored with, as the comparison was told."""
        return self.table.declared

    @property
    def units(self) -> tuple[int, str]:
        """How many queries or pairs there are, and which of the two they are."""
        return units_of(self.table)

    @property
    def dot(self) -> dict[str, Any]:
        """What the dot product does against the baseline."""
        return dot_numbers(self.table)

    @property
    def enough(self) -> bool:
        """Whether there are so many queries or pairs that something can be told at all."""
        return has_enough(self.table)

    @property
    def relevance(self) -> Relevance | None:
        """Length against relevance, where that was measured and may be told."""
        relevance = self.shape.relevance
        return relevance if relevance is not None and not relevance.says_nothing else None

    @property
    def normalized(self) -> bool:
        """Whether length was discarded, so that for this metric the dot product is cosine."""
        lengths = self.shape.lengths
        return bool(lengths) and lengths[-1].normalised and ranks_as_dot(self.table)

    @property
    def unreadable(self) -> bool:
        """Whether even the baseline agrees with the gold scores less than chance would, or has no value."""
        return is_unreadable(self.table)
