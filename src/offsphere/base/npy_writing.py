"""Numpy's .npy format, written piece by piece: the array need not be in memory, and its bytes are always the same."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray


class Sink(Protocol):
    """Whatever takes bytes: a file, a member of an archive."""

    def write(self, content: Any, /) -> Any:
        """Take all of some bytes."""


def write_blocks(sink: Sink, blocks: Iterable[NDArray[Any]], shape: tuple[int, ...], dtype: DTypeLike) -> None:
    """Write an array that comes in blocks of rows in the .npy format.

    Args:
        sink: Where to.
        blocks: The rows in their order.
        shape: Of the whole array.
        dtype: Its type, to which the blocks are cast.

    Example:
        >>> import io
        >>> import numpy as np
        >>> from offsphere.base.npy_writing import write_blocks
        >>> buffer, rows = io.BytesIO(), np.arange(6.0).reshape(3, 2)
        >>> write_blocks(buffer, [rows[:2], rows[2:]], rows.shape, rows.dtype)
        >>> np.load(io.BytesIO(buffer.getvalue())).tolist()
        [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    """
    kind = np.dtype(dtype)
    header = io.BytesIO()
    described = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, described)
    sink.write(header.getvalue())
    for block in blocks:
        sink.write(np.ascontiguousarray(block, kind).reshape(-1).view(np.uint8).data)
