"""Transforms: maps fitted on the documents and applied to both sides, most of them affine and the same for both.

A transform such as ``Whiten(0.5)`` is a plain value; ``fit`` turns it, given the documents' moments, into a map. Since
a chain of affine maps is one affine map, a scorer with many such transforms costs as much as with one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, Protocol

import numpy as np

from offsphere.base.arrays import Array, Rows, Vectors
from offsphere.base.errors import ParameterError, VectorError
from offsphere.scoring.similarity import written
from offsphere.vectors.moments import Moments

Side = Literal["query", "document"]

EPSILON = 1e-6
_NO_VARIANCE = 1e-14  # of the largest variance: rounding, not spread


@dataclass(frozen=True, slots=True, eq=False)
class AffineMap:
    """``x @ matrix + shift``: what every fitted transform is. A one-dimensional matrix is a diagonal."""

    matrix: Array  # (dimension, output dimension) or (dimension,)
    shift: Array  # (output dimension,)

    def apply(self, vectors: Vectors, side: Side = "document") -> Rows:  # noqa: ARG002
        """Map rows in float64 and keep them in float32, the precision in which vectors are stored and searched."""
        if vectors.shape[1] != len(self.matrix):
            raise VectorError(
                f"vectors have {vectors.shape[1]} dimensions, the transform was fitted on {len(self.matrix)}: "
                "use vectors of the model it was fitted on"
            )
        mapped = _times(np.asarray(vectors, dtype=np.float64), self.matrix)
        mapped += self.shift
        return mapped.astype(np.float32)

    def then(self, following: AffineMap) -> AffineMap:
        """This map and then the following one, as one map."""
        if self.matrix.ndim == 1 and following.matrix.ndim == 2:  # noqa: PLR2004  # a diagonal before a full matrix
            matrix = self.matrix[:, None] * following.matrix
        else:
            matrix = _times(self.matrix, following.matrix)
        return AffineMap(matrix, _times(self.shift, following.matrix) + following.shift)

    def moments(self, moments: Moments) -> Moments:
        """The moments of the mapped vectors, without a look at them."""
        half = _times(moments.scatter, self.matrix)  # (dimension, output dimension)
        scatter = _times(half.T, self.matrix)
        return Moments(moments.count, _times(moments.mean, self.matrix) + self.shift, scatter)

    def turned(self) -> AffineMap:
        """The same map with the sides exchanged: it does not know them apart."""
        return self


class FittedMap(Protocol):
    """A fitted transform: what it makes of the vectors of each side."""

    def apply(self, vectors: Vectors, side: Side = "document") -> Rows:
        """Map rows of one side."""
        ...

    def moments(self, moments: Moments) -> Moments:
        """The moments of the mapped documents."""
        ...

    def turned(self) -> FittedMap:
        """The same map with the sides exchanged."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Maps one after the other, where they are not one affine map."""

    parts: tuple[FittedMap, ...]

    def apply(self, vectors: Vectors, side: Side = "document") -> Rows:
        """Each part on what the one before made."""
        rows = self.parts[0].apply(vectors, side)
        for part in self.parts[1:]:
            rows = part.apply(rows, side)
        return rows

    def moments(self, moments: Moments) -> Moments:
        """Through every part."""
        for part in self.parts:
            moments = part.moments(moments)
        return moments

    def turned(self) -> Chain:
        """Every part turned."""
        return Chain(tuple(part.turned() for part in self.parts))


class Transform(Protocol):
    """What can be fitted on documents."""

    @property
    def name(self) -> str:
        """The name with its parameters, as ``offsphere.parse_scorer`` reads it."""
        ...

    def fit(self, moments: Moments) -> FittedMap:
        """The map this transform is, for documents with these moments."""
        ...


@dataclass(frozen=True, slots=True)
class Center:
    """Subtract the mean document."""

    @property
    def name(self) -> str:
        """The name."""
        return "center"

    def fit(self, moments: Moments) -> AffineMap:
        """Move every vector by the same amount."""
        return AffineMap(np.ones_like(moments.mean), -moments.mean)


@dataclass(frozen=True, slots=True)
class Standardize:
    """Subtract the mean and divide each dimension by its standard deviation; constant dimensions become zero."""

    @property
    def name(self) -> str:
        """The name."""
        return "standardize"

    def fit(self, moments: Moments) -> AffineMap:
        """Scale each dimension on its own."""
        deviation = np.sqrt(np.diag(moments.covariance))
        scale = np.divide(1, deviation, out=np.ones_like(deviation), where=deviation > 0)
        return AffineMap(scale, -moments.mean * scale)


@dataclass(frozen=True, slots=True)
class Whiten:
    """Centre, then divide each principal direction by its standard deviation to the power ``strength``.

    ``strength`` 1 is full whitening (Su et al. 2021, arXiv:2103.15316), 0 only centres; between them lies a softened
    whitening, ``(eigenvalue + epsilon) ** (-strength / 2)``. ``components`` keeps that many leading directions; without
    it the axes stay where they were, which changes no inner product. ``epsilon`` is a share of the mean eigenvalue: it
    bounds how far a direction in which the documents hardly vary is blown up. One in which they do not vary at all
    becomes zero.
    """

    strength: float = 1.0
    components: int | None = None
    epsilon: float = EPSILON

    def __post_init__(self) -> None:
        """Reject parameters for which whitening means nothing."""
        if not 0 <= self.strength <= 1:
            raise ParameterError(f"whiten: strength = {self.strength} is not in [0, 1]")
        if self.components is not None and (not isinstance(self.components, int) or self.components < 1):
            raise ParameterError(f"whiten: components = {self.components} is not a positive number of dimensions")
        if not self.epsilon >= 0:
            raise ParameterError(f"whiten: epsilon = {self.epsilon} is negative")

    @property
    def name(self) -> str:
        """The name with the strength, and what else is not the default."""
        more = f", {self.components}" if self.components is not None else ""
        if self.epsilon != EPSILON:
            more = f", {self.components or 0}, {written(self.epsilon)}"
        return f"whiten({written(self.strength)}{more})"

    def fit(self, moments: Moments) -> AffineMap:
        """Read the directions and their variances off the covariance."""
        variances, directions = _principal(moments)
        spread = variances + self.epsilon * variances.mean()
        varies = spread > _NO_VARIANCE * variances.max(initial=0)
        scale = np.where(varies, np.where(varies, spread, 1.0) ** (-self.strength / 2), 0.0)
        if self.components is None:
            matrix = (directions * scale) @ directions.T
        else:
            if self.components > len(variances):
                raise ParameterError(
                    f"whiten: components = {self.components} is more than the vectors' {len(variances)} dimensions"
                )
            matrix = (directions * scale)[:, : self.components]
        return AffineMap(matrix, -moments.mean @ matrix)


@dataclass(frozen=True, slots=True)
class DropTop:
    """Centre and remove the ``k`` leading principal directions: all-but-the-top (Mu & Viswanath 2018).

    Without ``k`` one direction is removed for every hundred dimensions, and at least one.
    """

    k: int | None = None

    def __post_init__(self) -> None:
        """Reject what is no number of directions."""
        if self.k is not None and (not isinstance(self.k, int) or self.k < 0):
            raise ParameterError(f"drop-top: k = {self.k} is not a number of directions")

    @property
    def name(self) -> str:
        """The name, with k where it was given."""
        return "drop-top" if self.k is None else f"drop-top({self.k})"

    def fit(self, moments: Moments) -> AffineMap:
        """Project onto what the leading directions leave."""
        _, directions = _principal(moments)
        dimension = len(moments.mean)
        k = max(1, round(dimension / 100)) if self.k is None else self.k
        if k >= dimension:
            raise ParameterError(f"drop-top: k = {k} leaves nothing of {dimension} dimensions")
        top = directions[:, :k]
        matrix = np.eye(dimension) - top @ top.T
        return AffineMap(matrix, -moments.mean @ matrix)


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """A given linear map, ``x @ matrix``: learned elsewhere, or made from a similarity matrix."""

    matrix: Array  # (dimension, output dimension)

    @classmethod
    def soft_cosine(cls, similarity: Vectors) -> Linear:
        """The map after which cosine is soft cosine, ``u^T S v / sqrt(u^T S u  v^T S v)``, for positive-definite S."""
        matrix = np.asarray(similarity, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.allclose(matrix, matrix.T):  # noqa: PLR2004
            raise ParameterError("soft cosine needs a square symmetric matrix S")
        values, vectors = np.linalg.eigh(matrix)
        if values[0] <= 0:
            raise ParameterError(
                f"soft cosine needs a positive-definite S, but its smallest eigenvalue is {values[0]:g}: "
                f"add {-values[0]:g} or a little more to its diagonal"
            )
        return cls((vectors * np.sqrt(values)) @ vectors.T)

    @property
    def name(self) -> str:
        """The name."""
        return "linear"

    def arrays(self) -> dict[str, Array]:
        """What it was given."""
        return {"matrix": self.matrix}

    def fit(self, moments: Moments) -> AffineMap:
        """Nothing to learn; only the dimension must be right."""
        matrix = np.asarray(self.matrix, dtype=np.float64)
        if len(matrix) != len(moments.mean):
            raise VectorError(f"the linear map takes {len(matrix)} dimensions, the vectors have {len(moments.mean)}")
        return AffineMap(matrix, np.zeros(matrix.shape[1]))


def fit_chain(transforms: Sequence[Transform], moments: Moments) -> FittedMap | None:
    """Fit each transform on what the ones before it make of the documents; nothing for no transforms."""
    parts: list[FittedMap] = []
    for place, transform in enumerate(transforms):
        fitted = transform.fit(moments)
        if place + 1 < len(transforms):
            moments = fitted.moments(moments)
        parts.append(fitted)
    return joined(parts)


def joined(parts: Sequence[FittedMap]) -> FittedMap | None:
    """The maps one after the other as one; neighbours that are affine become one affine map."""
    short: list[FittedMap] = []
    for part in parts:
        last = short[-1] if short else None
        if isinstance(last, AffineMap) and isinstance(part, AffineMap):
            short[-1] = last.then(part)
        else:
            short.append(part)
    return None if not short else short[0] if len(short) == 1 else Chain(tuple(short))


TRANSFORMS: Mapping[str, Callable[..., Transform]] = MappingProxyType(
    {"center": Center, "standardize": Standardize, "whiten": Whiten, "drop-top": DropTop}
)


def _times(left: Array, matrix: Array) -> Array:
    """Rows times a matrix, or times the diagonal a one-dimensional matrix stands for."""
    return left * matrix if matrix.ndim == 1 else left @ matrix


def _principal(moments: Moments) -> tuple[Array, Array]:
    """Variances, largest first, and the principal directions as columns."""
    variances, directions = np.linalg.eigh(moments.covariance)
    return np.maximum(variances[::-1], 0), directions[:, ::-1]
