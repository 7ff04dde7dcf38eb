"""All-but-the-top: remove the few directions in which the documents vary most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from offsphere.base.errors import ParameterError
from offsphere.scoring.transforms.maps import AffineMap
from offsphere.scoring.transforms.principal import principal_directions
from offsphere.scoring.transforms.transform import Transform, whole_number
from offsphere.vectors.moments import Moments


@dataclass(frozen=True)
class DropTop(Transform):
    """Centre and remove the ``k`` leading principal directions: all-but-the-top (Mu & Viswanath 2018).

    Args:
        k: how many directions to remove; without it one for every hundred dimensions, and at least one.

    Raises:
        ParameterError: where ``k`` is no number of directions.

    Example:
        >>> import numpy as np
        >>> from offsphere import DropTop, Moments
        >>> documents = np.array([[-9, 1], [9, 1], [0, -1], [0, -1]], np.float32)
        >>> dropped = DropTop(1).fit(Moments.of(documents)).apply(documents)
        >>> (dropped + 0.0).tolist()
        [[0.0, 1.0], [0.0, 1.0], [0.0, -1.0], [0.0, -1.0]]
    """

    k: int | None = None

    kind = "drop-top"
    phrase = "drop the strongest directions"

    def __post_init__(self) -> None:
        """Reject what is no number of directions."""
        if self.k is not None and (not isinstance(self.k, int) or self.k < 0):
            raise ParameterError(f"drop-top: k = {self.k} is not a number of directions")

    @property
    def name(self) -> str:
        """The name, with k where it was given."""
        return "drop-top" if self.k is None else f"drop-top({self.k})"

    @classmethod
    def of_numbers(cls, numbers: Sequence[float]) -> Self:
        """Make it from a whole number of directions, or from none."""
        arguments: list[Any] = [whole_number(number) for number in numbers]
        return cls(*arguments)

    def fit(self, moments: Moments) -> AffineMap:
        """Give the projection onto what the leading directions leave."""
        _, directions = principal_directions(moments)
        dimension = len(moments.mean)
        k = max(1, round(dimension / 100)) if self.k is None else self.k
        if k >= dimension:
            raise ParameterError(f"drop-top: k = {k} leaves nothing of {dimension} dimensions")
        top = directions[:, :k]
        matrix = np.eye(dimension) - top @ top.T
        return AffineMap(matrix, -moments.mean @ matrix)
