"""Files appear whole or not at all: they are written beside their place, flushed to disk, and renamed.

A kill leaves the file that was being written. The next one to write the same file removes it: who writes holds a lock
on his file, so one that nobody holds belongs to nobody.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from offsphere.base.errors import OffsphereError

try:
    import fcntl
except ImportError:  # Windows: leftovers stay
    fcntl = None  # type: ignore[assignment]

SUFFIX = ".partial"
LONGEST_NAME = 150  # bytes of the name that a file beside it repeats, so that it is no longer than a name may be


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, in one step, whether it was there before or not; its folder is made where there is none.

    Args:
        path: The file; through a symlink the file that it points to.
        content: All of its bytes.

    Raises:
        OffsphereError: It cannot be written, or is no regular file. Nothing was changed.
    """
    with whole_file(path) as stream:
        stream.write(content)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file to be written piece by piece; it appears, or takes the place of the old one, when all is written.

    Args:
        path: The file; through a symlink the file that it points to.

    Yields:
        The stream to write to.

    Raises:
        OffsphereError: It cannot be written, or is no regular file. Nothing was changed.
    """
    try:
        target = regular_target(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(target)
        stream, beside = _open_beside(target)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise OffsphereError(f"cannot write {path}: {reason}: choose another folder") from error
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            beside.chmod(_mode(target))
            beside.replace(target)  # while the lock is held: nobody removes it
    except OSError as error:
        raise OffsphereError(f"cannot write {path}: {error.strerror}: nothing was changed") from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


@contextmanager
def file_beside(path: Path) -> Iterator[Path]:
    """A hidden file beside another, for a package that writes to a path only; it is gone afterwards.

    Args:
        path: The other file.

    Yields:
        The path of the hidden one. What a kill leaves of it is removed by the next one who writes the other file.

    Raises:
        OffsphereError: The other is no regular file.
    """
    stream, beside = _open_beside(regular_target(path))
    with stream:  # which holds the lock
        try:
            yield beside
        finally:
            beside.unlink(missing_ok=True)


def level_modes(folder: Path, neighbour: str) -> None:
    """Let files of a folder that only their owner may read be read as a neighbour is: some writers hide weights.

    Args:
        folder: Whose files, also those of folders in it, are looked at; links are left alone.
        neighbour: The name of a file in it whose permissions are as the user has them for new files.
    """
    wanted = stat.S_IMODE((folder / neighbour).stat().st_mode)
    for path in folder.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        mode = stat.S_IMODE(path.stat().st_mode)
        if not mode & 0o077 and mode != wanted:
            with suppress(OSError):  # of somebody else
                path.chmod(mode | wanted)


def regular_target(path: Path) -> Path:
    """The file that is written when a path is: behind symlinks, there already or not.

    Raises:
        OffsphereError: Something else is there: a folder, a device, a pipe.
    """
    target = path.resolve() if path.is_symlink() else path
    if target.exists() and not stat.S_ISREG(target.stat().st_mode):
        what = "a folder" if target.is_dir() else "a device or pipe, no regular file"
        raise OffsphereError(f"cannot write {path}: it is {what}: choose another name; nothing was changed")
    return target


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced; those of a new file where there is none."""
    return stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644


def _open_beside(target: Path) -> tuple[BinaryIO, Path]:
    """Make a hidden file beside the target and hold a lock on it."""
    while True:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=_prefix(target), suffix=SUFFIX)
        if fcntl is not None:
            with suppress(OSError):  # a file system without locks: its leftovers cannot be told, and stay
                fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:  # else somebody took it for a leftover before it was locked
            return os.fdopen(handle, "wb"), Path(name)
        os.close(handle)


def _remove_leftovers(target: Path) -> None:
    """Remove what killed runs left of the same file."""
    if fcntl is None:
        return
    prefix = _prefix(target)
    for name in os.listdir(target.parent):  # noqa: PTH208  # a pattern would have to be escaped
        if not (name.startswith(prefix) and name.endswith(SUFFIX)):
            continue
        with suppress(OSError):
            handle = os.open(target.parent / name, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                (target.parent / name).unlink()
            finally:
                os.close(handle)


def _prefix(target: Path) -> str:
    """How the names of hidden files for a target begin."""
    return f".{os.fsdecode(os.fsencode(target.name)[:LONGEST_NAME])}."
