"""Layer normalisation: a vector less its own mean, over its own spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Rows, Vectors
from offsphere.base.errors import ParameterError
from offsphere.scoring.transforms.maps import Side
from offsphere.scoring.transforms.transform import Transform
from offsphere.vectors.moments import Moments

ROUNDING = 1e-12  # of the largest number: what is left of equal numbers without their mean


@dataclass(frozen=True)
class LayerNorm(Transform):
    """``(x - mean(x)) / std(x)``, each vector by itself (Ba et al. 2016, arXiv:1607.06450), without gain and bias.

    It is a projection and then a division by the length, so that every vector comes out as long as the root of its
    dimension: it lowers as cosine does. A vector whose numbers are all equal becomes zero.

    Example:
        >>> import numpy as np
        >>> from offsphere import LayerNorm
        >>> LayerNorm().apply(np.array([[1.0, 3.0], [5.0, 5.0]])).tolist()
        [[-1.0, 1.0], [0.0, 0.0]]
    """

    kind = "layer-norm"
    phrase = "take each vector's own mean from it and divide by its own spread"
    affine = False

    @property
    def widths(self) -> None:
        """Nothing: vectors of any dimension can be normalised."""
        return

    def fit(self, moments: Moments) -> LayerNorm:  # noqa: ARG002
        """Give the map itself: there is nothing to fit."""
        return self

    def apply(self, vectors: Vectors, side: Side = "document") -> Rows:  # noqa: ARG002
        """Normalise rows in float64 and keep them in float32."""
        rows = np.asarray(vectors, np.float64)
        centred = rows - rows.mean(axis=1, keepdims=True)
        size = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
        centred[np.abs(centred).max(axis=1, initial=0.0) <= ROUNDING * size[:, 0]] = 0.0
        spread = centred.std(axis=1, keepdims=True)
        return np.asarray(centred / np.where(spread > 0, spread, 1.0), np.float32)

    def moments(self, moments: Moments) -> Moments:  # noqa: ARG002
        """Refuse: the moments of normalised vectors do not follow from those of the vectors."""
        raise ParameterError(
            "no transform can be fitted after layer-norm: put layer-norm last, or compare the normalised vectors "
            "themselves (LayerNorm().apply)"
        )
