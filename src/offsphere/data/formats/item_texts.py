"""Texts of things that links are between (items, nodes), beside the table of the links: JSON lines, TSV or CSV."""

from __future__ import annotations

from pathlib import Path

from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import is_there
from offsphere.base.reading.tables import refuse_repeated, table_rows
from offsphere.data.formats.beir import read_texts
from offsphere.data.items import ItemList

SUFFIXES = (".jsonl", ".tsv", ".csv")
IDS = ("id", "_id", "item", "item_id", "node", "node_id")
TEXTS = ("title", "text")


def find_texts(folder: Path, name: str) -> Path | None:
    """The file of that name with texts; nothing where there is none."""
    files = [folder / f"{name}{suffix}" for suffix in SUFFIXES if is_there(folder / f"{name}{suffix}")]
    if len(files) > 1:
        raise DataError(f"{folder} has {' and '.join(file.name for file in files)}: keep the one to use")
    return files[0] if files else None


def read_item_texts(path: Path) -> ItemList:
    """The ids and texts of a file; in a table the columns title and text are joined, as BEIR joins them.

    Raises:
        DataError: A line cannot be read, or the table names no ids or no texts.
    """
    if path.suffix == ".jsonl":
        return read_texts(path)
    header, rows = table_rows(path)
    refuse_repeated(path, header, (*IDS, *TEXTS))
    named = next((name for name in IDS if name in header), None)
    texts = [header.index(name) for name in TEXTS if name in header]
    if named is None or not texts:
        raise DataError(
            f"{path} begins with the columns {', '.join(header)}: expected an id ({', '.join(IDS)}), and title or text"
        )
    entries = [
        (row[header.index(named)].strip(), " ".join(filter(None, (row[column] for column in texts)))) for _, row in rows
    ]
    return ItemList([name for name, _ in entries], [text for _, text in entries], str(path))
