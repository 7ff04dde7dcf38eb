"""Standardising: give every dimension mean 0 and standard deviation 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsphere.scoring.transforms.maps import AffineMap
from offsphere.scoring.transforms.transform import Transform
from offsphere.vectors.moments import Moments


@dataclass(frozen=True)
class Standardize(Transform):
    """Subtract the mean and divide each dimension by its standard deviation; constant dimensions become zero.

    Example:
        >>> import numpy as np
        >>> from offsphere import Moments, Standardize
        >>> documents = np.array([[1.0, 5.0], [3.0, 5.0]], np.float32)
        >>> Standardize().fit(Moments.of(documents)).apply(documents).tolist()
        [[-1.0, 0.0], [1.0, 0.0]]
    """

    kind = "standardize"
    phrase = "give every dimension the same spread"

    def fit(self, moments: Moments) -> AffineMap:
        """Give the map that scales each dimension on its own."""
        # after other transforms a variance of zero may be rounded to below it
        deviation = np.sqrt(np.maximum(np.diag(moments.covariance), 0))
        scale = np.divide(1, deviation, out=np.ones_like(deviation), where=deviation > 0)
        return AffineMap(scale, -moments.mean * scale)
