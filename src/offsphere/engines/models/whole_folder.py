"""A folder appears whole, or takes the place of another whole: at no moment is there neither of them.

Linux exchanges two names in one step. Where the system or the file system cannot, the old folder lies aside for a
moment; a kill in that moment is mended by the next who writes there, before anything else.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from offsphere.base.errors import OffsphereError
from offsphere.data.store_writer import locked

UNFINISHED = "-unfinished"  # behind the name of a hidden folder beside the one to be
NEW, OLD = "new", "old"  # what lies in it
HERE, EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux


@contextmanager
def working_folder(target: Path) -> Iterator[Path]:
    """A hidden folder to write in, for one process at a time; it is gone afterwards, unless it was put in place.

    Args:
        target: The folder to be; what a killed run had put aside has its name again.

    Yields:
        The path of the folder, which is not there yet.

    Raises:
        OffsphereError: Another process writes there, or the system refuses.
    """
    beside = target.absolute().parent / f".{target.name}{UNFINISHED}"
    with locked(beside):
        _put_back(beside / OLD, target)
        shutil.rmtree(beside / NEW, ignore_errors=True)
        try:
            yield beside / NEW
        finally:
            _put_back(beside / OLD, target)  # it is removed with the rest only where another has its name
            shutil.rmtree(beside, ignore_errors=True)  # while the lock is held: it is nobody else's


def put_in_place(written: Path, target: Path) -> None:
    """Give a working folder the name that it is for; what had the name goes with the working folder's home.

    Raises:
        OffsphereError: The system refuses; what had the name keeps it.
    """
    try:
        if not target.exists():
            written.rename(target)
        elif not swap_folders(written, target):
            target.rename(written.parent / OLD)
            written.rename(target)
    except OSError as error:
        raise OffsphereError(f"cannot write to {target}: {error.strerror}") from error


def swap_folders(one: Path, other: Path) -> bool:
    """Exchange the names of two folders in one step; nothing is changed, and it says so, where that cannot be done."""
    if not sys.platform.startswith("linux"):
        return False
    exchange = getattr(ctypes.CDLL(None), "renameat2", None)
    return exchange is not None and exchange(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE) == 0


def _put_back(old: Path, target: Path) -> None:
    """Give a folder that was put aside its name again, where no other has it."""
    try:
        if old.exists() and not target.exists():
            old.rename(target)
    except OSError as error:
        raise OffsphereError(f"cannot move {old} back to {target}: {error.strerror}: move it yourself") from error
