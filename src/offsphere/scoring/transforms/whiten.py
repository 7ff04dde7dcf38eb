"""Whitening: make the documents vary equally in all directions, or a softened step towards that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from offsphere.base.errors import ParameterError
from offsphere.scoring.number_text import number_text
from offsphere.scoring.transforms.maps import AffineMap
from offsphere.scoring.transforms.principal import principal_directions
from offsphere.scoring.transforms.transform import Transform, whole_number
from offsphere.vectors.moments import Moments

EPSILON = 1e-6
_NO_VARIANCE = 1e-14  # of the largest variance: rounding, not spread
LIGHT = 0.3  # strength up to which whitening is light


@dataclass(frozen=True)
class Whiten(Transform):
    """Centre, then divide each principal direction by its standard deviation to the power ``strength``.

    ``strength`` 1 is full whitening (Su et al. 2021, arXiv:2103.15316), 0 only centres; between them lies a softened
    whitening, ``(eigenvalue + epsilon) ** (-strength / 2)``. A direction in which the documents do not vary at all
    becomes zero.

    Args:
        strength: from 0 to 1.
        components: how many leading directions to keep; without it the axes stay where they were, which changes no
            inner product.
        epsilon: a share of the mean eigenvalue: it bounds how far a direction in which the documents hardly vary is
            blown up.

    Raises:
        ParameterError: where a parameter is outside the range in which whitening means something.

    Example:
        >>> import numpy as np
        >>> from offsphere import Moments, Whiten
        >>> documents = np.random.default_rng(0).normal(3, [1, 10], (500, 2))
        >>> whitened = Whiten(1, epsilon=0).fit(Moments.of(documents)).apply(documents)
        >>> np.abs(np.cov(whitened.T, bias=True)).round(3).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """

    strength: float = 1.0
    components: int | None = None
    epsilon: float = EPSILON

    kind = "whiten"

    @property
    def phrase(self) -> str:
        """Whitening, and how much of it."""
        named = {0.0: "not at all (centre only)", 0.5: "at half strength", 1.0: "fully"}
        return f"whiten {named.get(self.strength) or ('lightly' if self.strength < LIGHT else f'at {self.strength:g}')}"

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
            more = f", {self.components or 0}, {number_text(self.epsilon)}"
        return f"whiten({number_text(self.strength)}{more})"

    @classmethod
    def of_numbers(cls, numbers: Sequence[float]) -> Self:
        """Make it from strength, components and epsilon; components are whole, and 0 stands for all of them."""
        arguments: list[Any] = list(numbers)
        if len(arguments) > 1:
            arguments[1] = whole_number(arguments[1]) or None
        return cls(*arguments)

    def fit(self, moments: Moments) -> AffineMap:
        """Read the directions and their variances off the covariance, and give the map that evens them out."""
        variances, directions = principal_directions(moments)
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
