"""Length as a free prior: cosine, and a function of the document's length that was fitted to judgments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from offsphere.base.arrays import Array, Arrays
from offsphere.base.errors import DataError
from offsphere.base.short_repr import short_repr
from offsphere.scoring.scorer_files import numbers_of
from offsphere.scoring.similarity.formula import Agreement, Similarity, Terms
from offsphere.scoring.similarity.polar import COSINE


@dataclass(frozen=True, eq=False)
class LengthPrior(Similarity):
    """``cosine + f(ln |d|)``: direction and length as separate features, the length's bent in any way.

    ``f`` is linear between its knots and constant beyond the first and the last.

    Args:
        knots: logarithms of lengths, growing.
        heights: the function at each of them.

    Raises:
        DataError: where there are no knots, they do not grow, or there are not as many heights.

    Example:
        >>> import numpy as np
        >>> from offsphere import LengthPrior
        >>> prior = LengthPrior(np.log([1.0, 4.0]), np.array([0.0, 0.2]))
        >>> prior(np.array([1.0, 2.0, 9.0]), np.ones(3), np.array([1.0, 2.0, 9.0])).round(4).tolist()
        [1.0, 1.1, 1.2]
    """

    knots: Array
    heights: Array

    kind = "length-prior"
    phrase = "add to the cosine what judgments say of vectors of that length"
    by_name = False
    formula = "cosine + f(ln |d|)"
    has_offset = True
    linear = True

    __repr__ = short_repr

    def __post_init__(self) -> None:
        """Refuse what is no function."""
        if not len(self.knots) or len(self.knots) != len(self.heights) or (np.diff(self.knots) <= 0).any():
            raise DataError(f"{self.kind}: {len(self.knots)} knots and {len(self.heights)} heights are no function")

    @property
    def name(self) -> str:
        """The kind alone, since a function has no short name."""
        return self.kind

    @property
    def parameters(self) -> dict[str, float]:
        """Nothing: a function is no few numbers."""
        return {}

    def arrays(self) -> Arrays:
        """Give knots and heights by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def of(cls, config: Mapping[str, Any], arrays: Arrays) -> LengthPrior:  # noqa: ARG003
        """Make it again from what ``arrays()`` gave."""
        return cls(numbers_of(arrays, "knots", 1), numbers_of(arrays, "heights", 1))

    @property
    def pairs_as(self) -> tuple[object, ...]:
        """A key of the very function: two of them differ unless all of their numbers are equal."""
        return (self.kind, self.key)

    def agreement_key(self, level: Agreement) -> tuple[object, ...]:  # noqa: ARG002
        """A key of the very function, whatever is looked at."""
        return self.pairs_as

    def prior(self, lengths: Array) -> Array:
        """Give what documents of these lengths get; one without length, which has no cosine either, nothing.

        Args:
            lengths: (documents,).

        Returns:
            The heights of the function there, (documents,).
        """
        known = lengths > 0
        heights = np.interp(np.log(np.where(known, lengths, 1.0)), self.knots, self.heights)
        return np.where(known, heights, 0.0)

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
        """Add the function of the length to the cosine."""
        return COSINE(dot, query_lengths, document_lengths) + self.prior(document_lengths)

    def document_terms(self, lengths: Array) -> Terms:
        """Give the direction, and the function of the length as an offset."""
        scaled = COSINE.document_terms(lengths)
        return Terms(scaled.weight, scaled.offset + self.prior(lengths))

    def query_factor(self, lengths: Array) -> Array:
        """Give the length, as cosine does."""
        return lengths
