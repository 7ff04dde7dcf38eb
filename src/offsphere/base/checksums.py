"""Checksums beside a file, in the form of ``sha256sum``: files that belong together are known to do so.

``vectors.npy.sha256`` lists ``vectors.npy`` and ``vectors.ids``. Who reads one of them finds out here whether both are
still the bytes that were written together; ``sha256sum -c vectors.npy.sha256`` says the same without us.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from offsphere.base.digests import hashing_beside
from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import is_there, open_file, read_bounded, reading

SUFFIX = ".sha256"
MOST_BYTES = 1 << 20  # of a list of checksums
_LINE = re.compile(rb"(\\?)([0-9a-f]{64}) [ *]([^\n]+)")
_ESCAPES = {b"\\": rb"\\", b"\n": rb"\n", b"\r": rb"\r"}  # of names, as sha256sum writes them


class HashedStream:
    """A stream to write to that knows the checksum of what went through it."""

    def __init__(self, stream: BinaryIO) -> None:
        """Write to a stream that is open."""
        self._stream = stream
        self._digest = hashlib.sha256()

    def write(self, content: bytes | memoryview) -> int:
        """Write all of some bytes."""
        with hashing_beside(self._digest, content):
            return self._stream.write(content)

    @property
    def checksum(self) -> str:
        """The checksum of what was written so far, in hexadecimal digits."""
        return self._digest.hexdigest()


def checksums_beside(path: Path) -> Path:
    """The file with the checksums of a file and of what belongs to it."""
    return path.with_name(path.name + SUFFIX)


def checksum_lines(checksums: Mapping[str, str]) -> bytes:
    r"""Write checksums by file name as ``sha256sum`` does, a line each.

    Example:
        >>> from offsphere.base.checksums import checksum_lines
        >>> checksum_lines({"v.npy": "0" * 64})[-9:]
        b'0  v.npy\n'
    """
    return b"".join(_line(checksum, os.fsencode(name)) for name, checksum in checksums.items())


def refuse_other_bytes(path: Path, *companions: Path) -> None:
    """Compare a file and those that belong to it with the checksums beside it, where there are some.

    Args:
        path: The file.
        companions: Other files of its folder.

    Raises:
        DataError: One of them is missing, or has other bytes than those that were written together.
    """
    beside = checksums_beside(path)
    if not is_there(beside):
        return
    listed = _read(beside)
    for file in (path, *companions):
        expected = listed.get(os.fsencode(file.name))
        if expected is not None and _checksum(file) != expected:
            raise DataError(
                f"{file} is not the file of which {beside.name} has the checksum: it is damaged, or was not written "
                f"to its end: write it again, or delete {beside.name} if you changed it yourself"
            )


def _line(checksum: str, name: bytes) -> bytes:
    escaped = re.sub(rb"[\\\n\r]", lambda sign: _ESCAPES[sign.group()], name)
    return (b"\\" if escaped != name else b"") + checksum.encode() + b"  " + escaped + b"\n"


def _read(path: Path) -> dict[bytes, str]:
    """The checksums of a list by file name; lines of another form are not ours, and say nothing."""
    listed = {}
    signs = {written: sign for sign, written in _ESCAPES.items()}
    for match in _LINE.finditer(read_bounded(path, MOST_BYTES)):
        escaped, checksum, name = match.groups()
        if escaped:
            name = re.sub(rb"\\[\\nr]", lambda sign: signs[sign.group()], name)
        listed[name] = checksum.decode()
    return listed


def _checksum(path: Path) -> str:
    with reading(path, "a file that can be read"), open_file(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
