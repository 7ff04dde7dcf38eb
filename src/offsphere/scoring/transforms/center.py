"""Centring: subtract the mean document."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsphere.scoring.transforms.maps import AffineMap
from offsphere.scoring.transforms.transform import Transform
from offsphere.vectors.moments import Moments


@dataclass(frozen=True)
class Center(Transform):
    """Subtract the mean document from documents and queries.

    Example:
        >>> import numpy as np
        >>> from offsphere import Center, Moments
        >>> documents = np.array([[1.0, 2.0], [3.0, 6.0]], np.float32)
        >>> Center().fit(Moments.of(documents)).apply(documents).tolist()
        [[-1.0, -2.0], [1.0, 2.0]]
    """

    kind = "center"
    phrase = "subtract the mean document"

    def fit(self, moments: Moments) -> AffineMap:
        """Give the map that moves every vector by minus the mean."""
        return AffineMap(np.ones_like(moments.mean), -moments.mean)
