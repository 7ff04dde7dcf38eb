"""Labelled texts, ``text<TAB>label``: episodes of few-shot classification, or classification by nearest neighbours.

Where a folder has train and test, shots and neighbours come from train, and what is sorted from test.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import is_there
from offsphere.base.reading.tables import first_row_as_it_stands, table_rows
from offsphere.data.episode_task import EpisodeTask
from offsphere.data.formats.format import Format, Source
from offsphere.data.formats.labelled_settings import SETTINGS, Labelled, classification_task
from offsphere.data.formats.split_files import choose_split
from offsphere.data.items import ItemList
from offsphere.data.neighbour_task import NeighbourTask

COLUMNS = ("text", "label")
SUFFIXES = (".tsv", ".csv")
SPLITS = ("train", "dev", "validation", "test")
LOOKED_AT = 1_000  # rows that show whether labels repeat


def is_labelled(path: Path) -> bool:
    """Whether a folder has labelled texts, or a file is a table of them."""
    return bool(_files(path)) if path.is_dir() else _is_table(path)


def load_labelled_texts(source: Source) -> EpisodeTask | NeighbourTask:
    """Read labelled texts; the settings say how many ways, shots and episodes, or how many neighbours vote."""
    split = None
    if source.path.is_dir():
        files = _files(source.path)
        split = choose_split(source.path, files, source.split)
        queries = _read(files[split])
        train = _train_file(source.path)
        shots = _read(train) if train is not None and split != "train" else queries
        name = source.path.resolve().name
    else:
        queries = shots = _read(source.path)
        name = source.path.stem
    return classification_task(name, queries, shots, source.settings, split)


def _read(path: Path) -> Labelled:
    """The texts, named by their lines, and their labels."""
    header, rows = table_rows(path)
    entries = list(rows)
    if tuple(header) != COLUMNS:  # no header: the first line is a text, whose capitals the header has lost
        entries.insert(0, first_row_as_it_stands(path))
    for line, (_, label) in entries:
        if not label.strip():
            raise DataError(f"{path}:{line}: there is no label: expected a text, a tab and a label")
    texts = ItemList([f"line {line}" for line, _ in entries], [text for _, (text, _) in entries], str(path))
    return texts, [label.strip() for _, (_, label) in entries]


def _files(folder: Path) -> dict[str, Path]:
    """The tables of a folder by their split, those that are called as splits are."""
    paths = [folder / f"{split}{suffix}" for split in SPLITS for suffix in SUFFIXES]
    return {path.stem: path for path in paths if path.is_file() and _is_table(path)}


def _train_file(folder: Path) -> Path | None:
    """What the shots are taken from where it is there, be it a table or not: nothing else is taken in its place."""
    paths = (folder / f"train{suffix}" for suffix in SUFFIXES)
    return next((path for path in paths if is_there(path)), None)


def _is_table(path: Path) -> bool:
    """Whether a file has two columns that are named so, or whose second one repeats: labels do, sentences do not."""
    if path.suffix.lower() not in SUFFIXES:
        return False
    try:
        header, rows = table_rows(path)
        if len(header) != len(COLUMNS):
            return False
        if tuple(header) == COLUMNS:
            return True
        labels = [row[1] for _, row in islice(rows, LOOKED_AT)]
    except DataError:
        return False
    return len(labels) > 1 and 2 * len({*labels}) <= len(labels) and path.suffix.lower() == ".tsv"


FORMAT = Format(
    "labelled texts (text, label, as train.tsv and test.tsv or one file)",
    is_labelled,
    load_labelled_texts,
    lambda path: list(_files(path)),
    settings=SETTINGS,
)
