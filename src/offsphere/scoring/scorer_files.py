"""Scorers on disk: ``scorer.json`` says what it is, ``scorer.safetensors`` holds the numbers."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from offsphere.base.errors import DataError
from offsphere.base.files import write_whole
from offsphere.scoring.adapter import Adapter
from offsphere.scoring.scorer import DocumentBias, Scorer
from offsphere.scoring.similarity import FAMILIES
from offsphere.scoring.standardization import QueryStandardization
from offsphere.scoring.transforms import TRANSFORMS, AffineMap, Chain, FittedMap, Linear, Transform, joined

FORMAT = 1


def save_scorer(scorer: Scorer, folder: Path) -> None:
    """Write both files, the description last, so that it never describes numbers that are not there."""
    arrays, order = _of_map(scorer)
    if scorer.bias is not None:
        arrays["bias"] = scorer.bias.values
    if scorer.standardization is not None:
        arrays["standardization.mean"] = scorer.standardization.mean
        arrays["standardization.covariance"] = scorer.standardization.covariance
    for place, transform in enumerate(scorer.transforms):
        if isinstance(transform, Linear):
            arrays[f"transform.{place}"] = transform.matrix
        if isinstance(transform, Adapter):
            arrays |= {f"transform.{place}.{name}": array for name, array in transform.arrays().items()}
    numbers = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    description = {
        "format": FORMAT,
        "name": scorer.name,
        "similarity": {"family": scorer.similarity.label, "parameters": scorer.similarity.parameters},
        "transforms": [_describe(transform) for transform in scorer.transforms],
        "map": order,
        "bias": scorer.bias.name if scorer.bias is not None else None,
        "numbers": hashlib.sha256(numbers).hexdigest(),
    }
    write_whole(folder / "scorer.safetensors", numbers)
    write_whole(folder / "scorer.json", json.dumps(description, indent=2).encode())


def load_scorer(folder: Path) -> Scorer:
    """Read both files; anything that does not fit is said in one line."""
    text, numbers = folder / "scorer.json", folder / "scorer.safetensors"
    try:
        description = json.loads(text.read_bytes())
        content = numbers.read_bytes()
        if hashlib.sha256(content).hexdigest() != description["numbers"]:
            raise DataError(f"{numbers} is not the file that {text} describes: save the scorer again")
        arrays = load(content)
        if description["format"] != FORMAT:
            raise DataError(
                f"{text} is of format {description['format']}, this version reads {FORMAT}: update offsphere"
            )
        return _restored(description, arrays)
    except FileNotFoundError as error:
        raise DataError(f"no scorer in {folder}: {Path(error.filename).name} is missing") from error
    except OSError as error:
        raise DataError(f"{folder} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, SafetensorError) as error:
        raise DataError(f"{text} is not a saved scorer ({error}): save it again") from error


def _of_map(scorer: Scorer) -> tuple[dict[str, np.ndarray[Any, Any]], list[str | int]]:
    """The numbers of the affine parts of a fitted map, and the order of its parts; an adapter by its place."""
    parts = scorer.map.parts if isinstance(scorer.map, Chain) else [scorer.map] if scorer.map is not None else []
    places = iter(place for place, transform in enumerate(scorer.transforms) if isinstance(transform, Adapter))
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    order: list[str | int] = []
    for number, part in enumerate(parts):
        if isinstance(part, AffineMap):
            arrays |= {f"map.{number}.matrix": part.matrix, f"map.{number}.shift": part.shift}
            order.append(f"map.{number}")
        else:
            order.append(next(places))
    return arrays, order


def _restored(description: dict[str, Any], arrays: dict[str, Any]) -> Scorer:
    similarity = FAMILIES[description["similarity"]["family"]](**description["similarity"]["parameters"])
    transforms: list[Transform] = []
    for place, entry in enumerate(description["transforms"]):
        if entry["kind"] == "linear":
            transforms.append(Linear(arrays[f"transform.{place}"]))
        elif entry["kind"] == "adapter":
            start = f"transform.{place}."
            own = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
            transforms.append(Adapter.of_arrays(own, similarity, entry["label"]))
        else:
            transforms.append(TRANSFORMS[entry["kind"]](**entry["parameters"]))
    bias = DocumentBias(description["bias"], arrays["bias"]) if description["bias"] is not None else None
    parts: list[FittedMap] = []
    for part in description["map"]:
        if isinstance(part, int):
            adapter = transforms[part]
            assert isinstance(adapter, Adapter)
            parts.append(adapter)
        else:
            parts.append(AffineMap(arrays[f"{part}.matrix"], arrays[f"{part}.shift"]))
    standardization = None
    if "standardization.mean" in arrays:
        mean, covariance = arrays["standardization.mean"], arrays["standardization.covariance"]
        standardization = QueryStandardization(mean, covariance)
    return Scorer(similarity, tuple(transforms), bias, joined(parts), standardization)


def _describe(transform: Transform) -> dict[str, Any]:
    if isinstance(transform, Linear):
        return {"kind": "linear"}
    if isinstance(transform, Adapter):
        return {"kind": "adapter", "label": transform.label}
    kind = next((kind for kind, made in TRANSFORMS.items() if made is type(transform)), None)
    if kind is None:
        raise DataError(f"a {type(transform).__name__} cannot be saved: give it as a Linear map")
    return {"kind": kind, "parameters": asdict(transform)}  # type: ignore[call-overload]  # transforms are dataclasses
