"""What we save ourselves says what it is in a JSON file, with a digest of all it says and of the files beside it.

So a flipped byte is noticed wherever it is. Format 1, from before there were digests, is still read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from offsphere.base.errors import DataError
from offsphere.base.files import write_whole
from offsphere.base.reading.file_access import sha256_of
from offsphere.base.reading.json_files import read_json_object

FORMAT = 2
DIGEST, FILES = "digest", "files"


def write_sealed(path: Path, values: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
    """Write files and, last of all, the description of them, so that it never describes what is not there.

    Args:
        path: The description.
        values: What it says, as plain values.
        files: The contents of the files beside it, by their names.

    Raises:
        OffsphereError: One of them cannot be written.
    """
    for name, content in files.items():
        write_whole(path.parent / name, content)
    write_whole(path, sealed_bytes(values, files))


def sealed_bytes(values: Mapping[str, Any], files: Mapping[str, bytes]) -> bytes:
    """Make the content of a description, for whoever writes it together with something else.

    Args:
        values: What it says, as plain values.
        files: The contents of the files beside it, by their names.
    """
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    sealed = {"format": FORMAT, **values, FILES: digests}
    return json.dumps({**sealed, DIGEST: _digest(sealed)}, indent=2, allow_nan=False).encode()


def read_sealed(path: Path) -> dict[str, Any]:
    """Read a description, and check that it and the files beside it are what was written.

    Args:
        path: The description.

    Returns:
        What it says. Of format 1 nothing could be checked.

    Raises:
        DataError: It or a file beside it is missing, damaged, or of a later version.
    """
    values = read_json_object(path)
    if "format" not in values or values["format"] == 1:
        values.pop("format", None)
        if DIGEST in values or FILES in values:
            raise _damaged(path)
        return values
    form, digest = values["format"], values.pop(DIGEST, None)
    if form != FORMAT or isinstance(form, bool | float):
        raise DataError(f"{path} is of format {form}, this version reads {FORMAT}: update offsphere")
    if digest != _digest(values):
        raise _damaged(path)
    files = values.pop(FILES, None)
    if not isinstance(files, dict) or any(not name or Path(name).name != name for name in files):
        raise _damaged(path)
    for name, expected in files.items():
        beside = path.parent / name
        if sha256_of(beside) != expected:
            raise DataError(f"{beside} is not the file that {path} describes: it is damaged, write both again")
    del values["format"]
    return values


def _digest(values: Mapping[str, Any]) -> str:
    """A digest of plain values, whatever the white space and the order in which they are written."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _damaged(path: Path) -> DataError:
    """The error for a description that is not what was written."""
    return DataError(f"{path} is damaged: it does not say what its digest was made of: write it again")
