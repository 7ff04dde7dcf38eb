"""Scorers on disk: ``scorer.json`` says what it is, ``scorer.safetensors`` holds the numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from offsphere.base.arrays import Array, Arrays
from offsphere.base.errors import DataError, OffsphereError
from offsphere.base.reading.file_access import is_there, reading, sha256_of
from offsphere.base.reading.safetensors_files import read_tensors
from offsphere.base.reading.sealed_json import read_sealed, write_sealed

SavedPart = TypeVar("SavedPart")

TEXT, NUMBERS = "scorer.json", "scorer.safetensors"
FIELDS = {"name", "similarity", "transforms", "map", "bias"}
BANK = "bank"  # a field of scorers whose bias knows documents by id


def write_scorer_files(folder: Path, config: Mapping[str, Any], arrays: Arrays) -> None:
    """Write both files, the description last, so that it never describes numbers that are not there."""
    from safetensors.numpy import save

    numbers = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    write_sealed(folder / TEXT, config, {NUMBERS: numbers})


def read_scorer_files(folder: Path, make: Callable[[Mapping[str, Any], Arrays], SavedPart]) -> SavedPart:
    """Read both files and make of them what they describe; anything that does not fit is told in one line."""
    text, numbers = folder / TEXT, folder / NUMBERS
    for path in (text, numbers):
        if folder.is_dir() and not is_there(path):
            raise DataError(f"no scorer in {folder}: {path.name} is missing")
    description = read_sealed(text)
    _check_first_format(description, text, numbers)  # the second has that digest among its files
    if set(description) - {BANK} != FIELDS:
        odd = min((set(description) - {BANK}) ^ FIELDS)
        raise DataError(f"{text} is not a saved scorer (its field {odd!r}): save it again")
    arrays = read_tensors(numbers)
    with reading(text, "a saved scorer"):
        try:
            return make(description, arrays)
        except OffsphereError as error:
            raise DataError(f"{text} is not a saved scorer ({error}): save it again") from error


def numbers_of(arrays: Arrays, name: str, *axes: int) -> Array:
    """The finite real numbers of an array that a file holds.

    Args:
        arrays: What the file holds.
        name: Which of its arrays.
        axes: How many axes it may have.

    Returns:
        The array as it is.

    Raises:
        DataError: There is no such array, or it holds something else.
    """
    if name not in arrays:
        raise DataError(f"the array {name!r} is missing")
    array: Any = arrays[name]
    if array.ndim not in axes or not np.issubdtype(array.dtype, np.floating) or 0 in array.shape:
        wanted = " or ".join(map(str, axes))
        raise DataError(f"the array {name!r} is {array.dtype} of shape {array.shape}, expected numbers, {wanted} axes")
    if not np.isfinite(array).all():
        raise DataError(f"the array {name!r} holds a number that is not finite")
    numbers: Array = array
    return numbers


def with_prefix(prefix: str, arrays: Arrays) -> dict[str, Any]:
    """Put a prefix before the names of arrays; an array without a name gets the prefix as its name."""
    return {f"{prefix}.{name}" if name else prefix: array for name, array in arrays.items()}


def without_prefix(prefix: str, arrays: Arrays) -> dict[str, Any]:
    """Pick the arrays of a prefix, under the names that they had before it."""
    start = f"{prefix}."
    return {
        name.removeprefix(prefix).removeprefix("."): array
        for name, array in arrays.items()
        if name == prefix or name.startswith(start)
    }


def _check_first_format(description: dict[str, Any], text: Path, numbers: Path) -> None:
    """Check the digest of the numbers where a description of format 1 has one, and take it away."""
    expected = description.pop("numbers", None)
    if expected is None:
        return
    if sha256_of(numbers) != expected:
        raise DataError(f"{numbers} is not the file that {text} describes: save the scorer again")
