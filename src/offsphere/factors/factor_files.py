"""Factors and interactions on disk. Reading executes nothing, and says in one line what is not as it should be."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from scipy import sparse

from offsphere.base.arrays import Array
from offsphere.base.errors import DataError
from offsphere.base.files import write_whole
from offsphere.factors.closed_form import FACTORS, PRODUCT, Factors
from offsphere.factors.interactions import Weighting, checked

ARRAYS = ("items", "users_from", "singular_values", "scaling", "scale", "shift")
DESCRIPTION = "factors.json"


def save_factors(factors: Factors, folder: Path) -> None:
    """Write all; the description goes first and comes back last, so that it never describes other numbers."""
    (folder / DESCRIPTION).unlink(missing_ok=True)
    arrays = {name: getattr(factors, name) for name in ARRAYS[:4]}
    arrays |= {"scale": factors.weighting.scale, "shift": factors.weighting.shift}
    for name, array in arrays.items():
        buffer = io.BytesIO()
        np.save(buffer, array)
        write_whole(folder / f"{name}.npy", buffer.getvalue())
    said = {
        "objective": factors.objective,
        "lambda": factors.regularization,
        "weighting": factors.weighting.name,
        "power": factors.weighting.power,
        "empty_users": factors.empty_users,
        "empty_items": factors.empty_items,
    }
    write_whole(folder / DESCRIPTION, json.dumps(said, indent=2).encode())


def load_factors(folder: Path) -> Factors:
    """Read what was saved."""
    path = folder / DESCRIPTION
    try:
        said = json.loads(path.read_bytes())
        objective, weight = said["objective"], float(said["lambda"])
        name, power = str(said["weighting"]), float(said["power"])
        empty = int(said["empty_users"]), int(said["empty_items"])
    except FileNotFoundError as error:
        raise DataError(f"no factors in {folder}: {DESCRIPTION} is missing") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} does not describe factors ({error}): fit them again") from error
    parts = {name: read_numbers(folder / f"{name}.npy", 2 if name in ARRAYS[:2] else 1) for name in ARRAYS}
    items, k = parts["items"].shape
    shapes = {"users_from": (items, k), "singular_values": (k,), "scaling": (k,), "scale": (items,), "shift": (items,)}
    for part, shape in shapes.items():
        if parts[part].shape != shape:
            raise DataError(f"{folder / part}.npy has shape {parts[part].shape}, expected {shape}: fit them again")
    if objective not in (PRODUCT, FACTORS):
        raise DataError(f"{path}: objective {objective!r} is neither 1 nor 2: fit the factors again")
    return Factors(
        parts["users_from"],
        parts["items"],
        parts["singular_values"],
        objective,
        weight,
        Weighting(parts["scale"], parts["shift"], name, power),
        *empty,
        parts["scaling"],
    )


def read_interactions(path: str | Path) -> sparse.csr_array:
    """A scipy sparse .npz, or a dense .npy."""
    place = Path(path)
    if place.suffix != ".npz":
        return checked(read_numbers(place, 2))
    try:
        with place.open("rb") as stream:
            found = sparse.load_npz(stream)
        if hasattr(found, "check_format"):
            found.check_format()
    except FileNotFoundError as error:
        raise _missing(place) from error
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, AttributeError) as error:
        raise DataError(f"{place} is not a matrix as scipy.sparse.save_npz writes it ({_reason(error)})") from error
    return checked(found)


def read_numbers(path: Path, dimensions: int) -> Array:
    """A .npy file of finite real numbers with so many axes."""
    try:
        with path.open("rb") as stream:
            found: Any = np.load(stream, allow_pickle=False)
    except FileNotFoundError as error:
        raise _missing(path) from error
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise DataError(f"{path} is not an array as numpy.save writes it ({_reason(error)})") from error
    if not isinstance(found, np.ndarray):
        raise DataError(f"{path} is an archive of arrays: give one array (.npy)")
    if found.ndim != dimensions or not np.issubdtype(found.dtype, np.number) or np.iscomplexobj(found):
        raise DataError(f"{path} holds {found.dtype} of shape {found.shape}: expected real numbers, {dimensions} axes")
    if not np.isfinite(found).all():
        row = int(np.argwhere(~np.isfinite(found))[0][0])
        raise DataError(f"{path}: row {row} is not finite: train again, or leave it out")
    return np.asarray(found, dtype=np.float64)


def _missing(path: Path) -> DataError:
    return DataError(f"{path} does not exist: give a sparse matrix (.npz, scipy.sparse.save_npz) or an array (.npy)")


def _reason(error: Exception) -> str:
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return "it is no such file" if "pickle" in text else text
