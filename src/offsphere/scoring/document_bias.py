"""A document bias: a number for each document that is added to its similarity."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.errors import VectorError
from offsphere.scoring.value_key import value_key


@dataclass(frozen=True, eq=False)
class DocumentBias:
    """A number added to each document's similarity, in the documents' order."""

    name: str
    values: Array  # (documents,)

    def __post_init__(self) -> None:
        """Refuse what is no number for each document: it would rank documents at random."""
        if self.values.ndim != 1 or not np.isfinite(self.values).all():
            rows = np.flatnonzero(~np.isfinite(self.values)).tolist()
            where = f": that of document {rows[0]} is {self.values.flat[rows[0]]}" if rows else ""
            raise VectorError(f"a bias is one finite number for each document{where}")

    @cached_property
    def key(self) -> str:
        """A key that is equal for equal biases, whichever process they are in."""
        return value_key(["bias", self.name], {"values": self.values})
