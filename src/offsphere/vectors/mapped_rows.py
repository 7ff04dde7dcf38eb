"""Rows times a matrix, the same for equal rows wherever they stand.

The matrix products of BLAS sum the rows at the edge of an array in another order than those inside it, and a single row
in another one still. Rounded to float32 that is seen once in millions of numbers, which is enough to tear two equal
documents apart.
"""

from __future__ import annotations

import numpy as np

from offsphere.base.arrays import Array, Rows, Vectors


def mapped_rows(vectors: Vectors, matrix: Array, shift: Array | None = None) -> Rows:
    """Compute ``vectors @ matrix + shift`` in float64 and round it to float32.

    Args:
        vectors: A row each.
        matrix: (dimension, output dimension).
        shift: What is added to every row; nothing where it is not given.

    Returns:
        The mapped rows; equal ones for equal vectors, whatever stands beside them.

    Example:
        >>> import numpy as np
        >>> mapped_rows(np.array([[1.0, 2.0]], np.float32), np.array([[1.0, 0.0], [1.0, 3.0]])).tolist()
        [[3.0, 6.0]]
    """
    from offsphere.vectors.dot_kernels import round_products

    rows = np.ascontiguousarray(vectors, dtype=np.float64)
    columns = np.ascontiguousarray(matrix.T, dtype=np.float64)
    moved = np.zeros(len(columns)) if shift is None else np.asarray(shift, dtype=np.float64)
    # two sums of n products differ by at most 2 n round-offs of the two lengths (Higham 2002, sec. 3.1)
    errors = (len(matrix) + 4) * 2.0**-52 * np.sqrt((columns**2).sum(axis=1))
    return np.asarray(round_products(rows @ columns.T, rows, columns, moved, errors))
