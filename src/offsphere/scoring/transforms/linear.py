"""A given linear map: learned elsewhere, or made from a similarity matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from offsphere.base.arrays import Array, Arrays, Vectors
from offsphere.base.cores import one_blas_thread
from offsphere.base.errors import ParameterError, VectorError
from offsphere.base.short_repr import short_repr
from offsphere.scoring.scorer_files import numbers_of
from offsphere.scoring.transforms.maps import AffineMap
from offsphere.scoring.transforms.transform import Transform
from offsphere.vectors.moments import Moments


@dataclass(frozen=True, eq=False)
class Linear(Transform):
    """A given linear map, ``x @ matrix``: learned elsewhere, or made from a similarity matrix.

    Args:
        matrix: (dimension, output dimension).

    Example:
        >>> import numpy as np
        >>> from offsphere import Linear, Moments
        >>> documents = np.array([[1.0, 2.0, 3.0]], np.float32)
        >>> Linear(np.eye(3)[:, :2]).fit(Moments.of(documents)).apply(documents).tolist()
        [[1.0, 2.0]]
    """

    matrix: Array  # (dimension, output dimension)

    kind = "linear"
    phrase = "apply a linear map"
    by_name = False

    __repr__ = short_repr

    @property
    def name(self) -> str:
        """The name, which does not tell one matrix from another."""
        return "linear"

    @classmethod
    def soft_cosine(cls, similarity: Vectors) -> Linear:
        """Make the map after which cosine is soft cosine, ``u^T S v / sqrt(u^T S u  v^T S v)``.

        Args:
            similarity: the matrix S, square, symmetric and positive-definite: how near two dimensions are.

        Returns:
            The square root of S as a linear map.

        Raises:
            ParameterError: where S is not square, symmetric and positive-definite.

        Example:
            >>> import numpy as np
            >>> from offsphere import Linear
            >>> Linear.soft_cosine(np.diag([1.0, 4.0])).matrix.round(6).tolist()
            [[1.0, 0.0], [0.0, 2.0]]
        """
        matrix = np.asarray(similarity, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.allclose(matrix, matrix.T):  # noqa: PLR2004
            raise ParameterError("soft cosine needs a square symmetric matrix S")
        with one_blas_thread():
            values, vectors = np.linalg.eigh(matrix)
        if values[0] <= 0:
            raise ParameterError(
                f"soft cosine needs a positive-definite S, but its smallest eigenvalue is {values[0]:g}: "
                f"add {-values[0]:g} or a little more to its diagonal"
            )
        return cls((vectors * np.sqrt(values)) @ vectors.T)

    def config(self) -> dict[str, Any]:
        """Describe it as plain values for a JSON file: its kind, since the matrix is an array."""
        return {"kind": self.kind}

    def arrays(self) -> Arrays:
        """Give the matrix, without a name of its own: it is the only array."""
        return {"": self.matrix}

    @classmethod
    def of(cls, config: Mapping[str, Any], arrays: Arrays) -> Linear:  # noqa: ARG003
        """Make the map again from its matrix."""
        return cls(numbers_of(arrays, "", 2))

    def fit(self, moments: Moments) -> AffineMap:
        """Give the map as it is; only the dimension must be right."""
        matrix = np.asarray(self.matrix, dtype=np.float64)
        if len(matrix) != len(moments.mean):
            raise VectorError(f"the linear map takes {len(matrix)} dimensions, the vectors have {len(moments.mean)}")
        return AffineMap(matrix, np.zeros(matrix.shape[1]))
