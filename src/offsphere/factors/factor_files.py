"""Factors and interactions on disk. Reading executes nothing, and says in one line what is not as it should be."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from scipy import sparse

from offsphere.base.arrays import Array
from offsphere.base.errors import DataError
from offsphere.base.files import write_whole
from offsphere.base.npy_writing import write_npy
from offsphere.factors.interactions import interaction_matrix

DESCRIPTION = "factors.json"
MATRICES = ("items", "users_from")
ARRAYS = (*MATRICES, "singular_values", "scaling", "scale", "shift")
CONFIG: dict[str, Callable[[Any], Any]] = {  # what the description holds, and how each value is read
    "objective": lambda value: value,
    "lambda": float,
    "weighting": str,
    "power": float,
    "empty_users": int,
    "empty_items": int,
}


def write_factors(folder: Path, config: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write all; the description goes first and comes back last, so that it never describes other numbers."""
    (folder / DESCRIPTION).unlink(missing_ok=True)
    for name in ARRAYS:
        write_npy(folder / f"{name}.npy", arrays[name])
    write_whole(folder / DESCRIPTION, json.dumps({name: config[name] for name in CONFIG}, indent=2).encode())


def read_factors(folder: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """The description and the arrays that were written, of shapes that fit each other."""
    path = folder / DESCRIPTION
    try:
        content = json.loads(path.read_bytes())
        config = {name: read(content[name]) for name, read in CONFIG.items()}
    except FileNotFoundError as error:
        raise DataError(f"no factors in {folder}: {DESCRIPTION} is missing") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} does not describe factors ({error}): fit them again") from error
    arrays = {name: read_numbers(folder / f"{name}.npy", 2 if name in MATRICES else 1) for name in ARRAYS}
    items, k = arrays["items"].shape
    shapes = {"users_from": (items, k), "singular_values": (k,), "scaling": (k,), "scale": (items,), "shift": (items,)}
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise DataError(f"{folder / name}.npy has shape {arrays[name].shape}, expected {shape}: fit them again")
    return config, arrays


def read_interactions(path: str | Path) -> sparse.csr_array:
    """Users x items from a scipy sparse .npz or a dense .npy, checked."""
    source = Path(path)
    if source.suffix != ".npz":
        return interaction_matrix(read_numbers(source, 2))
    try:
        with source.open("rb") as stream:
            matrix = sparse.load_npz(stream)
        if hasattr(matrix, "check_format"):
            matrix.check_format()
    except FileNotFoundError as error:
        raise _missing(source) from error
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, AttributeError) as error:
        raise DataError(f"{source} is not a matrix as scipy.sparse.save_npz writes it ({_reason(error)})") from error
    return interaction_matrix(matrix)


def read_numbers(path: Path, dimensions: int) -> Array:
    """The finite real numbers of a .npy file with so many axes."""
    try:
        with path.open("rb") as stream:
            numbers: Any = np.load(stream, allow_pickle=False)
    except FileNotFoundError as error:
        raise _missing(path) from error
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise DataError(f"{path} is not an array as numpy.save writes it ({_reason(error)})") from error
    if not isinstance(numbers, np.ndarray):
        raise DataError(f"{path} is an archive of arrays: give one array (.npy)")
    if numbers.ndim != dimensions or not np.issubdtype(numbers.dtype, np.number) or np.iscomplexobj(numbers):
        raise DataError(
            f"{path} holds {numbers.dtype} of shape {numbers.shape}: expected real numbers, {dimensions} axes"
        )
    if not np.isfinite(numbers).all():
        row = int(np.argwhere(~np.isfinite(numbers))[0][0])
        raise DataError(f"{path}: row {row} is not finite: train again, or leave it out")
    return np.asarray(numbers, dtype=np.float64)


def _missing(path: Path) -> DataError:
    """The error for a file that is not there."""
    return DataError(f"{path} does not exist: give a sparse matrix (.npz, scipy.sparse.save_npz) or an array (.npy)")


def _reason(error: Exception) -> str:
    """The first line of an error, without numpy's advice to allow pickles."""
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return "it is no such file" if "pickle" in text else text
