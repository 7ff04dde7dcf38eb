"""Pictures as arrays with their labels: an ``.npz`` of uint8, as CIFAR comes, or idx files, as MNIST and its heirs do.

An archive has ``images`` and ``labels``, ``x`` and ``y``, or those of several splits: ``x_train``, ``train_images``.
A folder has an archive for each split, or idx files; ``t10k`` is MNIST's name for test.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import is_there
from offsphere.base.reading.idx_files import read_idx
from offsphere.base.reading.npz_files import npz_names, read_npz
from offsphere.data.formats.format import Format, Source
from offsphere.data.formats.labelled_settings import SETTINGS, picture_task
from offsphere.data.formats.split_files import choose_split
from offsphere.data.image import Image
from offsphere.data.labelled import LabelledItems
from offsphere.data.task import Task

PICTURES, LABELS = ("images", "x"), ("labels", "y")
SPLITS = ("train", "test", "dev", "val", "valid", "validation")
IDX_PICTURES, IDX_LABELS = "-images-idx3-ubyte", "-labels-idx1-ubyte"
IDX_SPLITS = {"t10k": "test"}
SHAPES = (3, 4)  # dimensions of an array of pictures


class ArrayPair(NamedTuple):
    """Where the pictures and the labels of one split are: two files, or two members of an archive."""

    pictures: Path
    labels: Path
    members: tuple[str, str] | None = None


def is_picture_arrays(path: Path) -> bool:
    """Whether an archive has pictures and labels, or a folder has such archives or idx files."""
    return bool(_parts(path))


def load_picture_arrays(source: Source) -> LabelledItems:
    """Read the pictures and labels of a split."""
    parts = _parts(source.path)
    split = choose_split(source.path, {name: part.pictures for name, part in parts.items()}, source.split)
    part = parts[split]
    pictures, labels = _read(part)
    where = part.pictures.name
    if pictures.dtype != np.uint8 or pictures.ndim not in SHAPES:
        shape = f"{pictures.dtype} of shape {pictures.shape}"
        raise DataError(f"{part.pictures}: pictures are {shape}: expected uint8, one a row")
    if labels.ndim == 2 and labels.shape[1] == 1:  # noqa: PLR2004  # as Keras has them
        labels = labels[:, 0]
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or len(labels) != len(pictures):
        raise DataError(
            f"{part.labels}: labels are {labels.dtype} of shape {labels.shape} for {len(pictures)} pictures: expected "
            "a whole number for each"
        )
    numbers, ranks = np.unique(labels, return_inverse=True)
    return LabelledItems(
        source.path.resolve().stem,
        [str(row) for row in range(len(pictures))],
        [Image(pixels, f"{where} row {row}") for row, pixels in enumerate(pictures)],
        ranks.astype(np.int64),
        [str(number) for number in numbers],
        split or None,
    )


def array_task(source: Source) -> Task:
    """Let pictures ask for those of their class; with settings, sort them into classes."""
    return picture_task(source, load_picture_arrays, _parts(source.path))


def _read(part: ArrayPair) -> tuple[NDArray[Any], NDArray[Any]]:
    if part.members is None:
        return read_idx(part.pictures), read_idx(part.labels)
    arrays = read_npz(part.pictures, part.members)
    return arrays[part.members[0]], arrays[part.members[1]]


def _parts(path: Path) -> dict[str, ArrayPair]:
    """The splits of an archive or a folder; one without a name has an empty one."""
    if path.is_file():
        return dict(_archive_parts(path)) if path.suffix == ".npz" else {}
    parts: dict[str, ArrayPair] = {}
    for file in sorted(path.iterdir()) if path.is_dir() else ():
        stem = file.name.removesuffix(".gz")
        if stem.endswith(IDX_PICTURES):
            name = stem.removesuffix(IDX_PICTURES)
            labels = file.with_name(file.name.replace(IDX_PICTURES, IDX_LABELS))
            if is_there(labels):
                parts[IDX_SPLITS.get(name, name)] = ArrayPair(file, labels)
        elif file.suffix == ".npz" and file.stem in SPLITS:
            parts.update((file.stem, part) for _, part in _archive_parts(file))
    return parts


def _archive_parts(path: Path) -> Iterator[tuple[str, ArrayPair]]:
    try:
        names = npz_names(path)
    except DataError:
        return
    for split in ("", *SPLITS):
        for pictures, labels in zip(PICTURES, LABELS, strict=True):
            for order in ("{0}_{1}", "{1}_{0}"):
                pair = tuple(order.format(name, split).strip("_") for name in (pictures, labels))
                if set(pair) <= set(names):
                    yield split, ArrayPair(path, path, (pair[0], pair[1]))


FORMAT = Format(
    "arrays of pictures with labels (.npz of uint8, or idx files)",
    is_picture_arrays,
    array_task,
    lambda path: [name for name in _parts(path) if name],
    load_picture_arrays,
    splits_a_file=True,
    settings=SETTINGS,
)
