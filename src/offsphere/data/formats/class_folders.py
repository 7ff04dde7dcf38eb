"""Pictures in a folder for each class, or such folders in one for each split: what torchvision calls an ImageFolder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from offsphere.base.errors import DataError
from offsphere.base.reading.picture_files import SUFFIXES
from offsphere.data.formats.format import Format, Source
from offsphere.data.formats.labelled_settings import SETTINGS, picture_task
from offsphere.data.formats.split_files import choose_split
from offsphere.data.image import Image
from offsphere.data.labelled import LabelledItems
from offsphere.data.picture_check import check_pictures
from offsphere.data.task import Task

SPLITS = ("train", "test", "dev", "val", "validation", "valid")
FEWEST = 2  # classes


def is_class_folders(path: Path) -> bool:
    """Whether a folder has at least two folders with pictures in them, or one for a split that has."""
    return path.is_dir() and (bool(_split_folders(path)) or _is_one_split(path))


def load_class_folders(source: Source) -> LabelledItems:
    """Read the pictures of a split; their classes are the names of their folders."""
    splits = _split_folders(source.path)
    split = choose_split(source.path, splits, source.split) if splits or source.split is not None else None
    folder = splits[split] if split is not None else source.path
    classes = sorted(below.name for below in _folders(folder) if _has_pictures(below))
    paths = [(number, path) for number, name in enumerate(classes) for path in sorted(_pictures(folder / name))]
    images = [Image(path, str(path.relative_to(folder))) for _, path in paths]
    checked = check_pictures(images, ignore_broken=source.ignore_broken)
    kept = [row for row in range(len(images)) if row not in checked.broken]
    if not kept:
        raise DataError(f"{folder}: no picture in it can be read")
    return LabelledItems(
        source.path.resolve().name,
        [images[row].name for row in kept],
        [images[row] for row in kept],
        np.array([paths[row][0] for row in kept], np.int64),
        classes,
        split,
        checked.notes,
    )


def class_task(source: Source) -> Task:
    """Let pictures ask for those of their class; with settings, sort them into classes."""
    return picture_task(source, load_class_folders, _split_folders(source.path))


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))


def _pictures(folder: Path) -> Iterator[Path]:
    return (
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in SUFFIXES and path.is_file() and not path.name.startswith(".")
    )


def _has_pictures(folder: Path) -> bool:
    return next(_pictures(folder), None) is not None


def _is_one_split(folder: Path) -> bool:
    return sum(_has_pictures(below) for below in _folders(folder)) >= FEWEST


def _split_folders(folder: Path) -> dict[str, Path]:
    """The folders of splits that hold folders of classes."""
    splits = {name: folder / name for name in SPLITS if (folder / name).is_dir()}
    return {name: below for name, below in splits.items() if _is_one_split(below)}


FORMAT = Format(
    "pictures in a folder for each class",
    is_class_folders,
    class_task,
    lambda path: list(_split_folders(path)) if path.is_dir() else [],
    load_class_folders,
    settings=SETTINGS,
)
