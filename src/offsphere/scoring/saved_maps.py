"""The fitted maps of a saved scorer, in their order: each is one that the file holds, and each fits to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from offsphere.base.arrays import Arrays
from offsphere.base.errors import DataError
from offsphere.scoring.scorer_files import without_prefix
from offsphere.scoring.transforms import AdapterMap, AffineMap, FittedMap, LayerNorm, Transform


def saved_maps(order: Any, transforms: Sequence[Transform], arrays: Arrays) -> list[FittedMap]:
    """Make the maps of a scorer again from what was saved.

    Args:
        order: What the file says: the prefix of an affine map's arrays, or the number of a transform that is a map
            itself.
        transforms: The transforms of the scorer.
        arrays: All arrays of the file.

    Returns:
        The maps; none where the scorer was not fitted.

    Raises:
        DataError: A number or a prefix stands for nothing, or a map does not fit to the one before it.
    """
    if not isinstance(order, list) or (order and not transforms):
        raise DataError(f"the maps are {order!r}, which are none of its {len(transforms)} transforms")
    maps = [_map(part, transforms, arrays) for part in order]
    if maps:
        _check_complete(order, transforms, arrays)
    width: int | None = None
    for part in maps:
        if part.widths is None:
            continue
        for given in part.takes:
            if width is not None and given != width:
                raise DataError(f"a map takes {given} dimensions, the one before it gives {width}")
        width = part.widths[1]
    return list(maps)


def _map(part: Any, transforms: Sequence[Transform], arrays: Arrays) -> AffineMap | AdapterMap | LayerNorm:
    """One of the maps, by what the file calls it."""
    if type(part) is int and 0 <= part < len(transforms):
        itself = transforms[part]
        if isinstance(itself, AdapterMap | LayerNorm):
            return itself
    if isinstance(part, str) and part.startswith("map."):
        return AffineMap.of(without_prefix(part, arrays))
    raise DataError(f"the map {part!r} is neither an array of the file nor one of its {len(transforms)} transforms")


def _check_complete(order: list[Any], transforms: Sequence[Transform], arrays: Arrays) -> None:
    """Refuse maps that are left out or stand there twice."""
    prefixes = {".".join(name.split(".")[:2]) for name in arrays if name.startswith("map.")}
    themselves = {number for number, transform in enumerate(transforms) if not transform.affine}
    if len(set(map(str, order))) != len(order) or set(map(str, order)) != prefixes | set(map(str, themselves)):
        raise DataError(f"the maps are {order!r}, which are not all that the file holds")
