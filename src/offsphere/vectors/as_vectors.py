"""Lists of numbers where vectors are taken: they become arrays, and what is no rows of numbers is told in one line."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from offsphere.base.arrays import Vectors
from offsphere.base.errors import VectorError
from offsphere.vectors.parted_rows import PartedRows


def as_vectors(rows: Any, what: str = "vectors") -> Vectors:
    """Make an array of what has a row for each vector; an array stays as it is, a memory map and rows in parts too.

    Args:
        rows: an array, a list of lists, or anything else that numpy reads as rows of numbers, such as a tensor.
        what: how to call them in an error.

    Returns:
        The array; of what was no array, in float32.

    Raises:
        VectorError: where the rows are not of one width, or hold something that is no number.

    Example:
        >>> from offsphere.vectors.as_vectors import as_vectors
        >>> as_vectors([[1, 0], [0, 2]]).dtype
        dtype('float32')
        >>> as_vectors([[1, 0], [2]], "queries")
        Traceback (most recent call last):
            ...
        offsphere.base.errors.VectorError: queries are no rows of numbers: give a list of equally long rows, or an array
    """
    if isinstance(rows, np.ndarray):
        return rows
    if isinstance(rows, PartedRows):
        return cast("Vectors", rows)  # which is asked as an array is
    try:
        array = np.asarray(rows)
    except (TypeError, ValueError, RuntimeError):  # of numpy, and of a tensor that is not in memory
        array = np.array(None)
    if array.dtype.kind not in "fiub":
        raise VectorError(f"{what} are no rows of numbers: give a list of equally long rows, or an array")
    return array if array.dtype in (np.float16, np.float32) else array.astype(np.float32)
