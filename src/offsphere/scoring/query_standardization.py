"""What a query standardisation needs to know of the corpus: mean and covariance of the lowered documents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from offsphere.base.arrays import Array, Arrays, Vectors
from offsphere.base.errors import DataError
from offsphere.base.short_repr import short_repr
from offsphere.scoring.scorer_files import numbers_of
from offsphere.scoring.value_key import value_key


@dataclass(frozen=True, eq=False)
class QueryStandardization:
    """Mean and covariance of the lowered documents, from which each query's scores can be standardised."""

    mean: Array
    covariance: Array

    __repr__ = short_repr

    @cached_property
    def key(self) -> str:
        """A key that is equal for equal standardisations, whichever process they are in."""
        return value_key("standardization", self.arrays())

    def arrays(self) -> dict[str, Array]:
        """Give its numbers by name."""
        return {"mean": self.mean, "covariance": self.covariance}

    @classmethod
    def of(cls, arrays: Arrays) -> QueryStandardization:
        """Make it again from what ``arrays()`` gave.

        Raises:
            DataError: where an array is missing, not finite, or the two do not fit each other.
        """
        mean, covariance = numbers_of(arrays, "mean", 1), numbers_of(arrays, "covariance", 2)
        if covariance.shape != (len(mean), len(mean)) or len(arrays) != len(("mean", "covariance")):
            raise DataError(f"a standardisation has {len(mean)} means and a covariance of shape {covariance.shape}")
        return cls(mean, covariance)

    def of_lowered(self, lowered_queries: Vectors) -> tuple[Array, Array]:
        """Compute mean and deviation of each lowered query's scores over the corpus; a zero deviation counts as one."""
        rows = np.asarray(lowered_queries, dtype=np.float64)
        deviation = np.sqrt(np.maximum(np.einsum("qd,de,qe->q", rows, self.covariance, rows, optimize=True), 0))
        return rows @ self.mean, np.where(deviation > 0, deviation, 1.0)
