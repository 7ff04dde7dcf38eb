"""Mean projection: remove the component along the mean document, and leave everything else as it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsphere.scoring.transforms.maps import AffineMap
from offsphere.scoring.transforms.transform import Transform
from offsphere.vectors.moments import Moments


@dataclass(frozen=True)
class ProjectMean(Transform):
    """Remove what lies along the mean document: ``x - (x . m) m / |m|^2`` (arXiv:2511.11041).

    Centring moves all vectors alike; this takes from each as much as it has of the common direction. Where the mean is
    zero nothing is changed.

    Example:
        >>> import numpy as np
        >>> from offsphere import Moments, ProjectMean
        >>> documents = np.array([[2.0, 1.0], [4.0, -1.0]], np.float32)  # their mean is (3, 0)
        >>> ProjectMean().fit(Moments.of(documents)).apply(documents).tolist()
        [[0.0, 1.0], [0.0, -1.0]]
    """

    kind = "project-mean"
    phrase = "remove the direction of the mean document"

    def fit(self, moments: Moments) -> AffineMap:
        """Give the projection onto what is orthogonal to the mean."""
        mean, dimension = moments.mean, len(moments.mean)
        squared = float(mean @ mean)
        along = np.outer(mean, mean) / squared if squared > 0 else np.zeros((dimension, dimension))
        return AffineMap(np.eye(dimension) - along, np.zeros(dimension))
