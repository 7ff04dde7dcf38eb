"""Lengths of vectors, in float64, the same for equal rows wherever they stand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def lengths(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """The L2 norm of each row."""
    from offsphere.kernels import squared_lengths

    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    return np.asarray(np.sqrt(squared_lengths(rows)))
