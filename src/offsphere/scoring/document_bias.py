"""A document bias: a number for each document that is added to its similarity."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from offsphere.base.arrays import Array
from offsphere.scoring.value_key import value_key


@dataclass(frozen=True, eq=False)
class DocumentBias:
    """A number added to each document's similarity, in the documents' order."""

    name: str
    values: Array  # (documents,)

    @cached_property
    def key(self) -> str:
        """A key that is equal for equal biases, whichever process they are in."""
        return value_key(["bias", self.name], {"values": self.values})
