"""Folders of pictures with ``captions.jsonl``, ``.tsv`` or ``.csv``: an image and a caption a line, several a picture.

An image is a path inside the folder, or the number of a row of ``images.npz`` beside the captions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import is_there
from offsphere.base.reading.npz_files import read_npz
from offsphere.base.reading.tables import json_lines, refuse_repeated, table_rows
from offsphere.data.captioned import CaptionedImage, caption_task
from offsphere.data.formats.format import Format, Source
from offsphere.data.formats.split_files import choose_split
from offsphere.data.image import Image
from offsphere.data.ranking_task import RankingTask

NAMES = ("captions.jsonl", "captions.tsv", "captions.csv")
COLUMNS = ("image", "caption")
ARRAYS = "images.npz"


class CaptionLine(NamedTuple):
    """A line as it was read: the picture, its caption, the split it belongs to, and where it stands."""

    image: str | int
    caption: str
    split: str | None
    where: str


def is_captions(path: Path) -> bool:
    """Whether a folder has a file of captions, or a file is one."""
    return path.name in NAMES if path.is_file() else _file(path) is not None


def load_captions(source: Source) -> RankingTask:
    """Read the captions of a split, and find their pictures."""
    path = source.path if source.path.is_file() else _file(source.path)
    assert path is not None  # or it would not have been recognised
    lines = list(_lines(path))
    if not lines:
        raise DataError(f"{path} has no captions")
    splits = _splits(lines)
    split = choose_split(path, splits, source.split) if splits or source.split is not None else None
    pictures = _Pictures(path.parent)
    chosen = [line for line in lines if line.split == split or not splits]
    rows = [CaptionedImage(str(line.image), pictures.find(line), [line.caption], line.where) for line in chosen]
    return task_of_file(path, rows, split, source)


def task_of_file(path: Path, rows: Sequence[CaptionedImage], split: str | None, source: Source) -> RankingTask:
    """Make the task of the pictures that a file has captions of; it is named after the file's folder."""
    return caption_task(
        path.parent.resolve().name,
        rows,
        str(path),
        split=split,
        ignore_missing=source.ignore_missing,
        ignore_broken=source.ignore_broken,
    )


def inside(folder: Path, name: str, where: str) -> Path:
    """The path of a file that data names, which must lie in the data's own folder."""
    pure = PurePosixPath(name)
    if not name or pure.is_absolute() or ".." in pure.parts or "\0" in name:
        raise DataError(f"{where}: the image {name!r} is no path inside {folder}: nothing else is opened")
    return folder / pure


class _Pictures:
    """Finds the pictures that captions name, each once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known: dict[str | int, Image | None] = {}
        self.arrays: Any = None

    def find(self, line: CaptionLine) -> Image | None:
        """The picture of a line; nothing where it is not there."""
        if line.image not in self.known:
            self.known[line.image] = self._row(line.image) if isinstance(line.image, int) else self._path(line)
        return self.known[line.image]

    def _path(self, line: CaptionLine) -> Image | None:
        path = inside(self.folder, str(line.image), line.where)
        return Image(path, str(line.image)) if path.is_file() else None

    def _row(self, row: int) -> Image | None:
        if self.arrays is None:
            arrays = read_npz(self.folder / ARRAYS, ["images"])
            if "images" not in arrays or arrays["images"].ndim not in (3, 4):
                raise DataError(f"{self.folder / ARRAYS} has no array 'images' (pictures, height, width, colours)")
            self.arrays = arrays["images"]
        return Image(self.arrays[row], f"{ARRAYS} row {row}") if 0 <= row < len(self.arrays) else None


def _file(folder: Path) -> Path | None:
    return next((folder / name for name in NAMES if is_there(folder / name)), None)


def _lines(path: Path) -> Iterator[CaptionLine]:
    if path.suffix == ".jsonl":
        for number, entry in json_lines(path):
            yield _line(entry, f"{path}:{number}")
        return
    header, rows = table_rows(path)
    refuse_repeated(path, header, COLUMNS)
    for number, row in rows:
        yield _line(dict(zip(header, row, strict=True)), f"{path}:{number}")


def _line(entry: dict[str, Any], where: str) -> CaptionLine:
    image, caption, split = entry.get("image"), entry.get("caption"), entry.get("split")
    if isinstance(image, bool) or not isinstance(image, str | int):
        raise DataError(f"{where}: there is no image (a path inside the folder, or a row of {ARRAYS})")
    if not isinstance(caption, str):
        raise DataError(f"{where}: there is no caption (a text)")
    if split is not None and not isinstance(split, str):
        raise DataError(f"{where}: the split is {split!r}, expected a text such as test")
    return CaptionLine(image, caption, split, where)


def _splits(lines: list[CaptionLine]) -> dict[str, Path]:
    """The splits that lines name; all of them must name one, or none."""
    names = {line.split: Path(line.where) for line in lines}
    if None in names and len(names) > 1:
        where = next(line.where for line in lines if line.split is None)
        raise DataError(f"{where}: there is no split, and other lines have one: give every line one")
    return {name: where for name, where in names.items() if name is not None}


def splits_of_captions(path: Path) -> list[str]:
    """The splits of a folder, in the order in which they are met."""
    file = path if path.is_file() else _file(path)
    return list(_splits(list(_lines(file)))) if file is not None else []


FORMAT = Format(
    "a folder of pictures with captions.jsonl, .tsv or .csv (image, caption)",
    is_captions,
    load_captions,
    splits_of_captions,
    splits_a_file=True,
)
