"""Vectors in 16 bits: what does not fit is refused, not turned into infinity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Rows
from offsphere.base.errors import VectorError


def as_half(rows: Rows, ids: Sequence[str]) -> NDArray[np.float16]:
    """Round vectors to float16.

    Raises:
        VectorError: A number is beyond 65,504, the largest that float16 has.

    Example:
        >>> import numpy as np
        >>> from offsphere.engines.half_precision import as_half
        >>> as_half(np.float32([[0.1, 2]]), ["a"]).tolist()
        [[0.0999755859375, 2.0]]
    """
    with np.errstate(over="ignore"):
        halves = rows.astype(np.float16)
    finite = np.isfinite(halves).all(axis=1)
    if not finite.all():
        name = ids[int(np.flatnonzero(~finite)[0])]
        raise VectorError(f"the vector of {name!r} has numbers that do not fit into float16: store it as float32")
    return halves
