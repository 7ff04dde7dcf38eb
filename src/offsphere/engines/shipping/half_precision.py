"""Vectors in 16 bits: what does not fit is refused; engines would make infinity of it, or another number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from offsphere.base.arrays import Rows
from offsphere.base.errors import VectorError


def check_half(rows: Rows, ids: Sequence[str]) -> None:
    """Refuse vectors that float16 has no room for.

    Raises:
        VectorError: A number is beyond 65,504, the largest that float16 has.

    Example:
        >>> import numpy as np
        >>> from offsphere.engines.shipping.half_precision import check_half
        >>> check_half(np.float32([[0.1, 2]]), ["a"])
    """
    with np.errstate(over="ignore"):
        finite = np.isfinite(rows.astype(np.float16)).all(axis=1)
    if not finite.all():
        name = ids[int(np.flatnonzero(~finite)[0])]
        raise VectorError(f"the vector of {name!r} has numbers that do not fit into float16: store it as float32")
