"""Factors and interactions on disk. Reading executes nothing, and says in one line what is not as it should be."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from offsphere.base.arrays import Array
from offsphere.base.cores import physical_memory
from offsphere.base.errors import DataError, first_line
from offsphere.base.reading.npy_files import read_npy
from offsphere.base.reading.npz_files import npz_bytes, read_npz
from offsphere.base.reading.records import record_of
from offsphere.base.reading.sealed_json import read_sealed, write_sealed
from offsphere.factors.interactions import interaction_matrix

DESCRIPTION = "factors.json"
MATRICES = ("items", "users_from")
ARRAYS = (*MATRICES, "singular_values", "scaling", "scale", "shift")
REGULARIZATION = "lambda"  # what it is called in the file, and cannot be called in Python
MATRIX = "a matrix as scipy.sparse.save_npz writes it"


@dataclass(frozen=True, slots=True)
class FactorDescription:
    """What ``factors.json`` says of factors: all but the numbers, which stand beside it."""

    objective: int
    regularization: float
    weighting: str
    power: float
    empty_users: int
    empty_items: int


def write_factors(folder: Path, config: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Remove the old description, write the numbers, then the new one: no description is ever of other numbers."""
    (folder / DESCRIPTION).unlink(missing_ok=True)
    files = {}
    for name in ARRAYS:
        buffer = io.BytesIO()
        np.save(buffer, arrays[name])
        files[f"{name}.npy"] = buffer.getvalue()
    names = [REGULARIZATION if name == "regularization" else name for name in FactorDescription.__dataclass_fields__]
    write_sealed(folder / DESCRIPTION, {name: config[name] for name in names}, files)


def read_factors(folder: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """The description and the arrays that were written, of shapes that fit each other."""
    path = folder / DESCRIPTION
    if not path.exists():
        raise DataError(f"no factors in {folder}: {DESCRIPTION} is missing")
    content = read_sealed(path)
    values = {"regularization" if name == REGULARIZATION else name: value for name, value in content.items()}
    record_of(FactorDescription, values, f"{path} does not describe factors")
    arrays = {name: read_numbers(folder / f"{name}.npy", 2 if name in MATRICES else 1) for name in ARRAYS}
    items, k = arrays["items"].shape
    shapes = {"users_from": (items, k), "singular_values": (k,), "scaling": (k,), "scale": (items,), "shift": (items,)}
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise DataError(f"{folder / name}.npy has shape {arrays[name].shape}, expected {shape}: fit them again")
    return content, arrays


def read_interactions(path: str | Path) -> sparse.csr_array:
    """Users x items from a scipy sparse .npz or a dense .npy, checked.

    Args:
        path: The file, as ``scipy.sparse.save_npz`` or ``numpy.save`` wrote it.

    Returns:
        The matrix.

    Raises:
        DataError: There is no such file, it holds no matrix, or a number of it is negative or not finite.

    Example:
        >>> import tempfile, numpy as np
        >>> from offsphere.factors.factor_files import read_interactions
        >>> with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        ...     np.save(file, np.eye(3))
        ...     file.flush()
        ...     read_interactions(file.name).nnz
        3
    """
    source = Path(path)
    if source.suffix != ".npz":
        return interaction_matrix(read_numbers(source, 2))
    if not source.exists():
        raise _missing(source)
    try:
        arrays = read_npz(source)
    except DataError as error:
        raise DataError(f"{source} is not {MATRIX} ({error})") from error
    return interaction_matrix(_sparse_matrix(arrays, source))


def _sparse_matrix(arrays: Mapping[str, Any], source: Path) -> Any:
    """The matrix that arrays of an archive stand for; every index is checked before compiled code follows it."""
    try:
        shape = [int(axis) for axis in arrays["shape"]]
        if len(shape) != 2 or min(shape) < 1 or sum(shape) * 8 > physical_memory():  # noqa: PLR2004
            raise ValueError(f"its shape is {shape}")
        if arrays["data"].dtype.kind not in "biuf":
            raise ValueError(f"it holds {arrays['data'].dtype}")
        matrix = sparse.load_npz(io.BytesIO(npz_bytes(**arrays)))
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)
        return sparse.csr_array(matrix)
    except MemoryError as error:
        raise DataError(f"{source} does not fit into the memory of this machine") from error
    except Exception as error:  # scipy raises many kinds
        raise DataError(f"{source} is not {MATRIX} ({first_line(error)})") from error


def read_numbers(path: Path, dimensions: int) -> Array:
    """The finite real numbers of a .npy file that has the given number of axes."""
    if not path.exists():
        raise _missing(path)
    numbers = read_npy(path)
    real = np.issubdtype(numbers.dtype, np.number) and not np.iscomplexobj(numbers)
    if numbers.ndim != dimensions or not real or 0 in numbers.shape:
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
