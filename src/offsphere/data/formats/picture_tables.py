"""Tables of the ``datasets`` package with a column of pictures, from the hub or saved in a folder.

Beside the pictures stand captions (a text, or a list of them) or classes. The bytes of a picture are read when it is
needed; a table that only says where its pictures lie is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from offsphere.base.errors import DataError, MissingExtraError, first_line
from offsphere.base.reading.arrow_files import check_arrow
from offsphere.base.reading.file_access import is_there
from offsphere.base.reading.json_files import read_json_object
from offsphere.data.captioned import CaptionedImage, caption_task
from offsphere.data.formats.format import Format, Source
from offsphere.data.formats.split_files import choose_split
from offsphere.data.image import Image
from offsphere.data.labelled import LabelledItems
from offsphere.data.picture_check import check_pictures
from offsphere.data.ranking_task import RankingTask

CAPTIONS = ("caption", "captions", "text", "sentence", "sentences", "raw")
LABELS = ("label", "labels", "fine_label", "class")
STATE = "state.json"  # which lists the files of one table
MARKS = ("dataset_dict.json", "dataset_info.json")  # what datasets writes into a folder of several tables, or of one


def picture_column(table: Any) -> str | None:
    """The column of pictures of a table, where it has one."""
    from datasets import Image as PictureFeature

    return next((name for name, feature in table.features.items() if isinstance(feature, PictureFeature)), None)


def task_of_tables(name: str, tables: Mapping[str, Any], source: Source) -> RankingTask:
    """Make a task of a table with pictures: captions ask for them, or they ask for those of their class."""
    split = _split(name, tables, source)
    table = tables[split]
    column = _column(table, CAPTIONS)
    if column is None:
        return labelled_of_tables(name, tables, source).ranking_task()
    images = _images(name, table, split)
    captions = [[text] if isinstance(text, str) else list(text or ()) for text in table[column]]
    rows = [
        CaptionedImage(str(row), image, texts, f"{name}/{split} row {row}")
        for row, (image, texts) in enumerate(zip(images, captions, strict=True))
    ]
    return caption_task(name, rows, name, split=split, ignore_broken=source.ignore_broken)


def labelled_of_tables(name: str, tables: Mapping[str, Any], source: Source) -> LabelledItems:
    """Read the pictures of a table and their classes."""
    split = _split(name, tables, source)
    table = tables[split]
    column = _column(table, LABELS)
    if column is None:
        raise DataError(
            f"{name}/{split} has pictures, and neither captions ({', '.join(CAPTIONS)}) nor classes "
            f"({', '.join(LABELS)}): its columns are {', '.join(table.column_names)}"
        )
    images = _images(name, table, split)
    checked = check_pictures(images, ignore_broken=source.ignore_broken)
    kept = [row for row in range(len(images)) if row not in checked.broken]
    named = getattr(table.features[column], "names", None)
    values, ranks = np.unique(np.asarray(table[column])[kept], return_inverse=True)
    return LabelledItems(
        name,
        [str(row) for row in kept],
        [images[row] for row in kept],
        ranks.astype(np.int64),
        [named[value] if named is not None else str(value) for value in values.tolist()],
        split,
        checked.notes,
    )


def is_saved_tables(path: Path) -> bool:
    """Whether a folder was written by ``save_to_disk`` of datasets."""
    return path.is_dir() and any((path / mark).is_file() for mark in MARKS)


def saved_tables(path: Path) -> dict[str, Any]:
    """Open the tables of a folder by their split; one table alone has the split ``test``."""
    try:
        from datasets import DatasetDict, load_from_disk
    except ImportError as error:
        raise MissingExtraError("datasets", "hub") from error
    _check_files(path)
    try:
        loaded: Any = load_from_disk(str(path))
    except Exception as error:  # datasets raises a different kind for everything that can be wrong
        raise DataError(f"{path} cannot be read as tables of datasets: {first_line(error)}") from error
    tables: dict[str, Any] = dict(loaded) if isinstance(loaded, DatasetDict) else {"test": loaded}
    if not any(picture_column(table) for table in tables.values()):
        raise DataError(f"{path} holds tables of datasets without a column of pictures (datasets.Image)")
    return tables


def _check_files(folder: Path) -> None:
    """Check the files that will be mapped, and that none is named that lies elsewhere.

    Raises:
        DataError: A file is missing, damaged, or no such file.
    """
    several = folder / MARKS[0]
    names = read_json_object(several).get("splits") if is_there(several) else [""]
    for name in _plain(names, several):
        state = folder / name / STATE
        listed = read_json_object(state)
        for kind in ("_data_files", "_indices_data_files"):
            entries = listed.get(kind) or []
            if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
                raise DataError(f"{state}: {kind} is {entries!r}: expected a list of files")
            for file in _plain([entry.get("filename") for entry in entries], state):
                check_arrow(state.parent / file)


def _plain(names: Any, where: Path) -> list[str]:
    """Names that are those of files or folders right beside the one that lists them."""
    listed: list[Any] = names if isinstance(names, list) else [None]
    if not all(isinstance(name, str) and Path(name).name == name != ".." for name in listed):
        raise DataError(f"{where} lists {names!r}: expected names of what lies beside it")
    return listed


def _split(name: str, tables: Mapping[str, Any], source: Source) -> str:
    return choose_split(Path(name), dict.fromkeys(tables, Path(name)), source.split)


def _column(table: Any, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in table.column_names), None)


def _images(name: str, table: Any, split: str) -> list[Image]:
    from datasets import Image as PictureFeature

    column = picture_column(table)
    if column is None:
        raise DataError(f"{name}/{split} has no column of pictures")
    encoded = table.select_columns([column]).cast_column(column, PictureFeature(decode=False))
    return [
        Image(partial(_bytes, encoded, column, row, f"{name}/{split}"), f"row {row}") for row in range(len(encoded))
    ]


def _bytes(table: Any, column: str, row: int, where: str) -> bytes:
    """The bytes of one picture."""
    content = table[row][column]
    if not isinstance(content, dict) or not content.get("bytes"):
        raise DataError(f"{where} row {row}: the picture's bytes are not in the table: save it with them")
    encoded: bytes = content["bytes"]
    return encoded


FORMAT = Format(
    "tables of datasets with pictures (save_to_disk)",
    is_saved_tables,
    lambda source: task_of_tables(source.path.resolve().name, saved_tables(source.path), source),
    lambda path: list(saved_tables(path)),
    lambda source: labelled_of_tables(source.path.resolve().name, saved_tables(source.path), source),
)
