"""Factors on disk: ``factors.json`` says what they are, ``items.npy`` and ``users_from.npy`` hold them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from offsphere.errors import DataError
from offsphere.factors.closed_form import Factors
from offsphere.factors.interactions import Weighting
from offsphere.files import write_whole

ARRAYS = ("items", "users_from", "singular_values", "scale", "shift")


def save_factors(factors: Factors, folder: Path) -> None:
    """Write all, the description last."""
    arrays = {
        "items": factors.items,
        "users_from": factors.users_from,
        "singular_values": factors.singular_values,
        "scale": factors.weighting.scale,
        "shift": factors.weighting.shift,
    }
    for name, array in arrays.items():
        buffer = io.BytesIO()
        np.save(buffer, array)
        write_whole(folder / f"{name}.npy", buffer.getvalue())
    said = {
        "objective": factors.objective,
        "lambda": factors.regularization,
        "weighting": factors.weighting.name,
        "empty_users": factors.empty_users,
        "empty_items": factors.empty_items,
    }
    write_whole(folder / "factors.json", json.dumps(said, indent=2).encode())


def load_factors(folder: Path) -> Factors:
    """Read what was saved; nothing in the files is executed."""
    try:
        said = json.loads((folder / "factors.json").read_bytes())
        parts = {name: np.load(folder / f"{name}.npy", allow_pickle=False) for name in ARRAYS}
        weighting = Weighting(parts["scale"], parts["shift"], said["weighting"])
        return Factors(
            parts["users_from"],
            parts["items"],
            parts["singular_values"],
            said["objective"],
            said["lambda"],
            weighting,
            said["empty_users"],
            said["empty_items"],
        )
    except FileNotFoundError as error:
        raise DataError(f"no factors in {folder}: {Path(error.filename).name} is missing") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{folder} does not hold saved factors ({error}): fit them again") from error


def read_factors(path: Path) -> NDArray[np.float64]:
    """Factors of any model, a row each, from a .npy file."""
    if not path.is_file():
        raise DataError(f"{path} does not exist: give factors as .npy, a row an item")
    try:
        found = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{path} cannot be read: {str(error).splitlines()[0]}") from error
    if found.ndim != 2 or not np.issubdtype(found.dtype, np.number):  # noqa: PLR2004
        raise DataError(f"{path} holds {found.dtype} of shape {found.shape}: expected numbers, a row an item")
    return np.asarray(found, dtype=np.float64)
