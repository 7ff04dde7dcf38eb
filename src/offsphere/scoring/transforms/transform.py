"""What a transform is: a plain value that becomes a map when it is fitted on documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from offsphere.scoring.part import Part
from offsphere.scoring.training_record import Training
from offsphere.scoring.transforms.maps import FittedMap, Side, join_maps
from offsphere.vectors.moments import Moments


class Transform(Part):
    """What all transforms share: a name, a description for files, and ``fit``."""

    affine: ClassVar[bool] = True  # whether it is fitted to an affine map; else it is a map itself, fitted or not

    @property
    def record(self) -> Training | None:
        """How it was trained; nothing for what was not."""
        return None

    def changes(self, side: Side) -> bool:  # noqa: ARG002
        """Tell whether it does anything to the vectors of a side.

        Args:
            side: query or document.

        Returns:
            True, as most transforms are one map for both.
        """
        return True

    def config(self) -> dict[str, Any]:
        """Describe it as plain values for a JSON file: its kind and its parameters."""
        return {"kind": self.kind, **super().config()}

    def fit(self, moments: Moments) -> FittedMap:
        """Give the map that this transform is for documents with these moments.

        Args:
            moments: count, mean and covariance of the documents.

        Returns:
            A map with ``apply(vectors, side)``.
        """
        raise NotImplementedError


def fit_chain(transforms: Sequence[Transform], moments: Moments) -> FittedMap | None:
    """Fit each transform on what the ones before it make of the documents; nothing for no transforms."""
    maps: list[FittedMap] = []
    for position, transform in enumerate(transforms):
        fitted = transform.fit(moments)
        if position + 1 < len(transforms):
            moments = fitted.moments(moments)
        maps.append(fitted)
    return join_maps(maps)


def whole_number(number: float) -> float | int:
    """Make an integer of a number that is one; what is not whole stays, for the transform to refuse."""
    return int(number) if number.is_integer() else number
