"""A copy of a Chroma database to read from: Chroma writes to a database as soon as it opens one."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from offsphere.base.reading.file_access import open_file, reading
from offsphere.engines.databases import scratch_folder

DATABASE = "chroma.sqlite3"
KIND = "a Chroma database"
_INDEXES = "SELECT s.id FROM segments s JOIN collections c ON s.collection = c.id WHERE c.name = ?"


@contextmanager
def copied_database(folder: Path, name: str) -> Iterator[Path]:
    """Copy a database, with the index of one collection, to a folder that is gone afterwards.

    Args:
        folder: Of the database.
        name: Of the collection.

    Yields:
        The folder of the copy.

    Raises:
        DataError: It is no database of Chroma.
    """
    path = folder / DATABASE
    with scratch_folder() as copy:
        with reading(path, KIND):
            open_file(path).close()  # whose errors are clearer
            source = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
            with closing(source), closing(sqlite3.connect(copy / DATABASE)) as target:
                source.backup(target)
                for index in _indexes(target, name, folder):
                    if index.is_dir():
                        shutil.copytree(index, copy / index.name)
        yield copy


def _indexes(database: sqlite3.Connection, name: str, folder: Path) -> list[Path]:
    """The folders with the index of a collection; all that are there, in a version of Chroma that we do not know."""
    with suppress(sqlite3.Error):
        return [folder / Path(str(row[0])).name for row in database.execute(_INDEXES, (name,))]
    return [path for path in folder.iterdir() if path.is_dir()]
