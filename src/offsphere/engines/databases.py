"""Collections in the folder of a database: half of one is known as such, and errors of the database are one line."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from offsphere.base.errors import DataError, OffsphereError, first_line
from offsphere.base.unfinished import mark_beside
from offsphere.engines.target import hide_password


@contextmanager
def working_with(engine: str, where: object) -> Iterator[None]:
    """Turn whatever the package of an engine raises into one line; its errors are of every kind.

    Args:
        engine: Its name.
        where: The folder, file or address of the database; its password is not told.

    Raises:
        OffsphereError: In place of any other error; those of offsphere pass.
    """
    try:
        yield
    except OffsphereError:
        raise
    except Exception as error:
        raise OffsphereError(hide_password(f"{engine} cannot use {where}: {first_line(error)}")) from error


def database_folder(engine: str, folder: Path) -> Path:
    """The folder of a database that is there.

    Raises:
        DataError: There is none, or it is no folder.
    """
    if not folder.exists():
        raise DataError(f"{folder} does not exist: give the folder of a {engine} database")
    if not folder.is_dir():
        raise DataError(f"{folder} is a file, not the folder of a {engine} database")
    return folder


def remove_unfinished(folder: Path, path: Path) -> None:
    """Remove the folder around something unfinished, the mark last: what a kill leaves of it is still marked."""
    mark = mark_beside(path)
    for other in folder.iterdir():
        if other.is_dir() and not other.is_symlink():
            shutil.rmtree(other)
        elif other != mark:
            other.unlink()
    shutil.rmtree(folder)
