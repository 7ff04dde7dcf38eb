"""Collections in a database, a folder or a server: half of one is known as such, and its errors are one line."""

from __future__ import annotations

import re
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from offsphere.base.cache_home import cache_home
from offsphere.base.cached_folders import in_use, sweep_unused
from offsphere.base.errors import ENDINGS, DataError, OffsphereError, first_line
from offsphere.base.passwords import hide_password
from offsphere.base.unfinished import mark_beside
from offsphere.data.store_writer import locked
from offsphere.engines.target import Target

COPIES = ".copy-of-database-"  # how their names in the cache begin, which no store of vectors has
LOCK, PATIENCE = ".databases.lock", 600.0  # who sweeps them, or begins one; seconds that one waits for another
_HOST_AND_PORT = re.compile(r"(localhost|[\w-]+(\.[\w-]+)*):\d{2,5}")
_ABSENT = re.compile(
    r"(?i)refused|unreachable|timed? ?out|deadline|could not connect|not resolve|name or service|no route|unavailable"
)
_LOCKED_OUT = re.compile(r"(?i)\b40[13]\b|unauthori[sz]ed|unauthenticated|forbidden|auth check failure")


@contextmanager
def working_with(engine: str, where: object, key: str = "") -> Iterator[None]:
    """Turn whatever the package of an engine raises into one line, without a password, and keep its warnings back.

    Args:
        engine: Its name.
        where: The folder or address of the database.
        key: The environment variable with its key, for a server that wants one.

    Raises:
        OffsphereError: In place of any other error; those of offsphere pass.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (OffsphereError, *ENDINGS):
        raise
    except BaseException as error:  # noqa: BLE001  # an engine in Rust that fails itself raises what is no Exception
        said = hide_password(first_line(error))
        cause = error if hide_password(str(error)) == str(error) else None  # a traceback tells no password either
        if key and _LOCKED_OUT.search(str(error)):
            raise OffsphereError(f"{engine} at {where} wants another key: set {key} ({said})") from cause
        if key and _ABSENT.search(str(error)):
            raise OffsphereError(
                f"{engine} does not answer at {where}: start it, or mend the address ({said})"
            ) from cause
        raise OffsphereError(f"{engine} cannot use {where}: {said}") from cause


def local_folder(where: Target) -> Path | None:
    """The file or folder of a target; nothing where it is an address.

    Raises:
        DataError: It looks like an address that lacks its beginning: no folder is made of that name.
    """
    if where.is_address:
        return None
    if _HOST_AND_PORT.fullmatch(where.location):
        raise DataError(
            f"{where.location} is neither a folder nor an address: write http://{where.location}, or ./{where.location}"
        )
    return Path(where.location)


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


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for the copy of a database, which is gone afterwards; on a disk: that for temporary files may be memory.

    Copies that killed runs left are removed first.

    Raises:
        OffsphereError: It cannot be made.
    """
    home = cache_home()
    with ExitStack() as stack:
        try:
            with locked(home, LOCK, PATIENCE, "$XDG_CACHE_HOME"):  # a copy that is just being made is no leftover
                sweep_unused(home, COPIES)
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=home, prefix=COPIES)))
                stack.enter_context(in_use(folder))
                copy = folder / "copy"  # beside the file that is locked, which is no part of a database
                copy.mkdir()
        except OSError as error:
            raise OffsphereError(f"cannot copy a database to {home}: {error.strerror}") from error
        yield copy
