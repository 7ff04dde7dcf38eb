"""Principal directions: in which directions the documents vary, and by how much."""

from __future__ import annotations

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.cores import one_blas_thread
from offsphere.vectors.moments import Moments


def principal_directions(moments: Moments) -> tuple[Array, Array]:
    """Compute the variances, largest first, and the principal directions as columns."""
    with one_blas_thread():
        variances, directions = np.linalg.eigh(moments.covariance)
    return np.maximum(variances[::-1], 0), directions[:, ::-1]
