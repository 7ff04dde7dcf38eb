"""Scorers on disk: ``scorer.json`` says what it is, ``scorer.safetensors`` holds the numbers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from offsphere.base.errors import DataError
from offsphere.base.files import write_whole
from offsphere.scoring.bias_files import FORMAT_WITH_IDS
from offsphere.scoring.value_key import Arrays

Made = TypeVar("Made")

FORMAT = 1
READABLE = (FORMAT, FORMAT_WITH_IDS)


def write_scorer_files(folder: Path, config: Mapping[str, Any], arrays: Arrays) -> None:
    """Write both files, the description last, so that it never describes numbers that are not there."""
    numbers = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    description = {"format": FORMAT, **config, "numbers": hashlib.sha256(numbers).hexdigest()}
    write_whole(folder / "scorer.safetensors", numbers)
    write_whole(folder / "scorer.json", json.dumps(description, indent=2).encode())


def read_scorer_files(folder: Path, make: Callable[[Mapping[str, Any], Arrays], Made]) -> Made:
    """Read both files and make of them what they describe; anything that does not fit is told in one line."""
    text, numbers = folder / "scorer.json", folder / "scorer.safetensors"
    try:
        description = json.loads(text.read_bytes())
        content = numbers.read_bytes()
        if hashlib.sha256(content).hexdigest() != description["numbers"]:
            raise DataError(f"{numbers} is not the file that {text} describes: save the scorer again")
        arrays = load(content)
        if description["format"] not in READABLE:
            newest = max(READABLE)
            raise DataError(
                f"{text} is of format {description['format']}, this version reads up to {newest}: update offsphere"
            )
        return make(description, arrays)
    except FileNotFoundError as error:
        raise DataError(f"no scorer in {folder}: {Path(error.filename).name} is missing") from error
    except OSError as error:
        raise DataError(f"{folder} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, SafetensorError) as error:
        raise DataError(f"{text} is not a saved scorer ({error}): save it again") from error


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
