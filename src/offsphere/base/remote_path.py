"""Files that lie elsewhere (``s3://``, ``gs://``, ``hf://``, ...), asked as files on this machine are, by fsspec.

Nothing is copied here: listings, sizes and ranges of bytes are asked for when somebody needs them. Who may read what is
between fsspec and the environment: credentials come from there, never from an address.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PosixPath
from typing import Any, TypeVar

from offsphere.base.errors import ENDINGS, DataError, OffsphereError, first_line
from offsphere.base.extras import load_extra
from offsphere.base.local_paths import local_path
from offsphere.base.passwords import hide_password

SCHEMES = ("s3", "gs", "hf", "memory", "file")
DRIVERS = {"s3": "s3fs", "gs": "gcsfs", "hf": "huggingface_hub"}  # the package that fsspec needs for each
_REMOTE = re.compile(rf"({'|'.join(SCHEMES)}):/+")
Told = TypeVar("Told")  # by the system that a file lies on


def given_path(typed: str | Path) -> Path:
    """The path that somebody typed of something to be read: on this machine, or in one of the places fsspec reads.

    Args:
        typed: A path, or an address such as ``s3://bucket/vectors``.

    Returns:
        The path; of an address one that is asked as any other path is, and cannot be written to.

    Raises:
        DataError: It is an address of another kind, or has a password in it.

    Example:
        >>> from offsphere.base.remote_path import given_path
        >>> folder = given_path("s3://bucket/vectors")  # nothing is connected yet
        >>> str(folder / "documents.npy"), folder.name
        ('s3://bucket/vectors/documents.npy', 'vectors')
    """
    text = str(typed)
    if not _REMOTE.match(text):
        return local_path(typed)
    path = RemotePath(text)
    if hide_password(str(path)) != str(path):
        raise DataError(
            f"{hide_password(str(path))!r} has a password in it: leave it out, and give the credentials as its service "
            "takes them, in the environment or in its own files"
        )
    return path


def is_remote(path: Path) -> bool:
    """Whether a path lies elsewhere, so that it is read in ranges and cannot be mapped or written."""
    return isinstance(path, RemotePath)


class RemotePath(PosixPath):
    """An address as a path: its parts are those of the address, and whatever looks at the file asks fsspec."""

    def __str__(self) -> str:
        """The address, as fsspec takes it."""
        scheme, _, rest = super().__str__().partition(":")
        return f"{scheme}:/{rest}" if scheme != "file" else f"{scheme}://{rest}"

    def __repr__(self) -> str:
        """The address, with the name of this class."""
        return f"RemotePath({str(self)!r})"

    def __fspath__(self) -> str:
        """The address, which nothing opens that takes files of this machine alone."""
        return str(self)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:  # noqa: ARG002
        """Ask for the size, and whether it is a file or a folder."""
        told = self._ask(lambda system, path: system.info(path))
        mode = stat.S_IFDIR if told["type"] == "directory" else stat.S_IFREG
        return os.stat_result((mode, 0, 0, 1, 0, 0, int(told.get("size") or 0), 0, 0, 0))

    def exists(self, **_: Any) -> bool:
        """Whether there is such a file or folder."""
        return bool(self._ask(lambda system, path: system.exists(path)))

    def is_symlink(self) -> bool:
        """No: an address has no links."""
        return False

    def is_file(self, **_: Any) -> bool:
        """Whether it is a file."""
        return bool(self._ask(lambda system, path: system.isfile(path)))

    def is_dir(self, **_: Any) -> bool:
        """Whether it is a folder: something whose name others begin with."""
        return bool(self._ask(lambda system, path: system.isdir(path)))

    def iterdir(self) -> Iterator[RemotePath]:  # type: ignore[override,unused-ignore]  # newer Pythons say Generator
        """Give what is in a folder."""
        names = self._ask(lambda system, path: system.ls(path, detail=False))
        yield from (self / name for name in sorted({str(name).rstrip("/").rpartition("/")[2] for name in names}))

    def glob(self, pattern: str, **_: Any) -> Iterator[RemotePath]:  # type: ignore[override,unused-ignore]
        """Give what is in a folder and has a name of this pattern."""
        if self.is_dir():
            yield from (path for path in self.iterdir() if fnmatchcase(path.name, pattern))

    def rglob(self, pattern: str, **_: Any) -> Iterator[RemotePath]:  # type: ignore[override,unused-ignore]
        """Give what is in a folder and all below, and has a name of this pattern."""
        for path in self.iterdir() if self.is_dir() else ():
            if fnmatchcase(path.name, pattern):
                yield path
            yield from path.rglob(pattern)

    def absolute(self) -> RemotePath:
        """Itself: an address holds everywhere."""
        return self

    def resolve(self, strict: bool = False) -> RemotePath:  # noqa: ARG002, FBT001, FBT002
        """Itself: an address has no links."""
        return self

    def open(self, mode: str = "rb", *_: Any, **__: Any) -> Any:
        """Open a file to read its bytes; what is read is asked for in ranges.

        Raises:
            OSError: It would be written to.
        """
        if mode not in ("r", "rb"):
            raise OSError(errno.EROFS, "what lies elsewhere is read, not written", str(self))
        return self._ask(lambda system, path: system.open(path, "rb"))

    def read_range(self, start: int, stop: int) -> bytes:
        """Read the bytes from one to another.

        Raises:
            DataError: There are not as many.
        """
        content: bytes = self._ask(lambda system, path: system.cat_file(path, start=start, end=stop))
        if len(content) != stop - start:
            raise DataError(f"{self} is truncated: it has no bytes {start:,} to {stop:,}")
        return content

    def mkdir(self, *_: Any, **__: Any) -> None:
        """Refuse: a folder is made to write into it."""
        raise OSError(errno.EROFS, "what lies elsewhere is read, not written", str(self))

    def _ask(self, question: Callable[[Any, str], Told]) -> Told:
        """Ask the file system of the address something; what goes wrong there is one line, without credentials."""
        fsspec = load_extra("fsspec")
        try:
            system, path = fsspec.core.url_to_fs(str(self))
            return question(system, path)
        except (OffsphereError, OSError, *ENDINGS):
            raise
        except ImportError as error:
            package = DRIVERS.get(str(self).partition(":")[0], "")
            raise OffsphereError(f"{self} is read with the package {package!r}: pip install {package}") from error
        except Exception as error:  # each service has errors of its own
            raise DataError(f"{self} cannot be read: {hide_password(first_line(error))}") from error
