"""A part of a scorer, similarity or transform, that describes itself: by its name, for a file, and from a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, ClassVar, Self

from offsphere.base.arrays import Arrays
from offsphere.base.errors import DataError
from offsphere.scoring.number_text import number_text
from offsphere.scoring.value_key import value_key

LARGEST = 1e300  # what a parameter may be in a file; beyond it powers are not numbers any more


class Part:
    """What similarities and transforms share. Each of them is a frozen dataclass whose fields are its parameters."""

    kind: ClassVar[str]  # its word in names and files
    by_name: ClassVar[bool] = True  # whether its name alone says what it is, so that a user can type it

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @property
    def name(self) -> str:
        """Its kind with its parameters, as ``offsphere.parse_scorer`` reads it."""
        numbers = ", ".join(number_text(value) for value in self.parameters.values())
        return f"{self.kind}({numbers})" if numbers else self.kind

    @property
    def phrase(self) -> str:
        """What it does, as an instruction in plain words, without a capital or a full stop."""
        return f"use {self.name}"

    @cached_property
    def key(self) -> str:
        """A key that is equal for equal parts, whichever process they are in."""
        return value_key(self.config(), self.arrays())

    def config(self) -> dict[str, Any]:
        """Describe it as plain values for a JSON file."""
        return {"parameters": self.parameters}

    def arrays(self) -> Arrays:
        """Give the arrays it is made of, by name; most parts have none."""
        return {}

    @classmethod
    def of(cls, config: Mapping[str, Any], arrays: Arrays) -> Self:  # noqa: ARG003
        """Make the part again from what ``config()`` and ``arrays()`` gave.

        Args:
            config: Plain values.
            arrays: By name; most parts have none.

        Returns:
            The same part.

        Raises:
            DataError: where a parameter is no number that can be computed with.
        """
        for name, value in config["parameters"].items():
            if value is not None and not (type(value) in (int, float) and abs(value) <= LARGEST):
                raise DataError(f"{cls.kind}: {name} = {value!r} is no number to compute with")
        make: Callable[..., Self] = cls
        return make(**config["parameters"])

    @classmethod
    def of_numbers(cls, numbers: Sequence[float]) -> Self:
        """Make the part from the numbers that stand in brackets behind its kind in a name.

        Args:
            numbers: In their order; those that are not typed keep their defaults.

        Returns:
            The part.
        """
        make: Callable[..., Self] = cls
        return make(*numbers)
