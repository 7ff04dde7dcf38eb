"""Folders in the cache: how large they are, when they were used last, and how to remove one that nobody uses."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from offsphere.base.cache import bytes_in

try:
    import fcntl
except ImportError:  # Windows: nobody can tell whether a folder is in use
    fcntl = None  # type: ignore[assignment]

LOCKS = (".used", ".lock")  # files that are locked while somebody works in the folder around them
REMOVED = ".removed-"  # how the names of folders begin that are being removed


class CachedFolder(NamedTuple):
    """A folder in the cache: its size in bytes, and when it was used last, in seconds since 1970."""

    path: Path
    size: int
    used: float


def cached_folders(home: Path) -> list[CachedFolder]:
    """The folders directly below one, those that were not used for longest first; hidden ones are not listed."""
    with suppress(OSError):
        folders = [path for path in home.iterdir() if not path.name.startswith(".") and path.is_dir()]
        return sorted((CachedFolder(path, bytes_in(path), _last_use(path)) for path in folders), key=lambda f: f.used)
    return []


@contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Keep a folder from being removed while somebody works in it, and remember that it was used.

    Where the folder cannot be written nothing is kept from anybody: its user must bear that files vanish.
    """
    handle = None
    with suppress(OSError):
        handle = _hold_shared(folder)
    try:
        yield
    finally:
        if handle is not None:
            with suppress(OSError):
                os.utime(handle)
            os.close(handle)


def remove_folder(folder: Path) -> bool:
    """Remove a folder that nobody works in; what an earlier removal left beside it goes too.

    Returns:
        Whether it is gone; it is not where somebody uses it, or where it may not be removed.
    """
    remove_leftovers(folder.parent)
    handles: list[int] = []
    try:
        for lock in [path for name in LOCKS for path in folder.rglob(name)]:
            handles.append(os.open(lock, os.O_RDWR))  # those before a failure are closed below
            if fcntl is not None:
                fcntl.flock(handles[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
        aside = folder.with_name(f"{REMOVED}{folder.name}")
        folder.rename(aside)  # in one step: a kill leaves no half of it under its name
        shutil.rmtree(aside, ignore_errors=True)
    except OSError:
        return False
    finally:
        for handle in handles:
            os.close(handle)
    return True


def remove_leftovers(home: Path) -> None:
    """Remove what a removal that was killed left."""
    for path in home.glob(f"{REMOVED}*"):
        shutil.rmtree(path, ignore_errors=True)


def sweep_unused(home: Path, prefix: str) -> None:
    """Remove folders whose names begin so and in which nobody works: runs that were killed left them."""
    remove_leftovers(home)
    if fcntl is None:
        return
    for folder in home.glob(f"{prefix}*"):
        remove_folder(folder)


def _hold_shared(folder: Path) -> int:
    """Hold a lock that others may share and that keeps the folder from being removed."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / LOCKS[0], os.O_RDWR | os.O_CREAT, 0o644)
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_SH)
        with suppress(OSError):
            if os.path.samestat(os.fstat(handle), (folder / LOCKS[0]).stat()):
                os.utime(handle)
                return handle
        os.close(handle)  # the folder was removed before it was locked


def _last_use(folder: Path) -> float:
    """When a folder was used last: the newest time of its files, or its own."""
    times = []
    for path in (folder, *folder.rglob("*")):
        with suppress(OSError):
            times.append(path.lstat().st_mtime)
    return max(times, default=0.0)
