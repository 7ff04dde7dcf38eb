"""What a section of the geometry is: one question about vectors, and the function that answers it from the evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Protocol

from offsphere.geometry.evidence import Evidence


class SectionPart(Protocol):
    """What a section says of one side, of one scorer, or of the whole."""

    @property
    def sentence(self) -> str:
        """What its numbers mean, in plain words."""
        ...


Measure = Callable[[Evidence], SectionPart | Sequence[SectionPart]]


def section(measure: Measure) -> dict[str, Measure]:
    """The metadata that makes a field of ``Geometry`` a section, measured by this function.

    The function raises an ``OffsphereError`` that says what is missing where the evidence does not suffice.
    """
    return {"measure": measure}


def sections_of(shape: type) -> dict[str, Measure]:
    """The fields of a dataclass that are sections, in their order, each with the function that measures it."""
    return {field.name: field.metadata["measure"] for field in fields(shape) if "measure" in field.metadata}
