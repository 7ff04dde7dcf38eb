"""A recipe: everything that decides how an adapter is trained, but for data and seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar

from offsphere.base.errors import ParameterError
from offsphere.learn.objective.contrastive_options import ContrastiveOptions
from offsphere.learn.objective.exponents import written_normalize
from offsphere.scoring.transforms.adapter_map import Combine

SIDES = ("auto", "untied", "tied", "query", "document")
MAGNITUDES = (None, "multiplied", "added")
BETAS = (0.9, 0.98)


@dataclass(frozen=True, slots=True)
class Recipe(ContrastiveOptions):
    """How to train. The defaults make a cosine adapter: a map for each side, InfoNCE at temperature 0.05.

    Weight decay pulls towards the identity.
    """

    AT_LEAST: ClassVar[Mapping[str, int]] = MappingProxyType({**ContrastiveOptions.AT_LEAST, "rank": 1})

    sides: str = "auto"  # a map for each side (untied), one for both (tied), or for one side only; auto: see resolved
    rank: int | None = None  # of what is added to the identity; full without
    magnitude: Combine | None = None  # a learned length on top of the direction: multiplied or added

    def __post_init__(self) -> None:
        """Reject what cannot be trained."""
        ContrastiveOptions.__post_init__(self)
        if self.sides not in SIDES:
            raise ParameterError(f"sides = {self.sides!r}: choose {', '.join(SIDES)}")
        if self.magnitude not in MAGNITUDES:
            raise ParameterError(f"magnitude = {self.magnitude!r}: choose multiplied or added, or leave it out")

    def resolved(self, *, pairs: bool = False) -> Recipe:
        """With the sides chosen: one map for both where they play one role (pairs), else one for each."""
        return replace(self, sides="tied" if pairs else "untied") if self.sides == "auto" else self

    @property
    def label(self) -> str:
        """What tells an adapter from others, besides its similarity."""
        parts = [self.sides]
        if self.rank is not None:
            parts.append(f"rank {self.rank}")
        if self.normalize_input != "none":
            parts.append(f"input {written_normalize(self.normalize_input)}")
        if self.magnitude is not None:  # the similarity says dot then, so this says what it was before
            similarity = self.exponents.similarity.name if not self.exponents.learned else "learned exponents"
            parts.append(f"{similarity}, length {self.magnitude}")
        return ", ".join(parts)
