"""Digests are short names for contents, by which things are known again. All of them are SHA-256."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from offsphere.base.errors import OffsphereError

# Stored in manifests and in the names of caches: with other lengths, nothing that is there would be found again.
PARTS_DIGITS, FILES_DIGITS = 24, 16


def digest_of(parts: Iterable[bytes]) -> str:
    """A short digest of several pieces, unambiguous where one ends and the next begins."""
    return _sha256(parts)[:PARTS_DIGITS]


def digest_of_texts(texts: Iterable[str]) -> str:
    """A full digest of texts in their order, unambiguous where one ends and the next begins."""
    return _sha256(text.encode("utf-8", "surrogatepass") for text in texts)


def array_pieces(arrays: Mapping[str, NDArray[Any]]) -> Iterator[bytes]:
    """The bytes that tell arrays from others, piece by piece, for a digest: names, types, shapes and numbers."""
    for name in sorted(arrays):
        array = arrays[name]
        yield f"{name} {array.dtype.str} {array.shape}".encode()
        yield array.tobytes()


def digest_of_files(paths: Sequence[Path]) -> str:
    """A short digest of the contents of several files in their order; their names do not matter."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(_file_digest(path))
    return digest.hexdigest()[:FILES_DIGITS]


def digest_of_named_files(folder: Path, paths: Iterable[Path]) -> str:
    """A short digest of files below a folder, of their contents and of where in it they are; their order is no part."""
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    parts = (
        part for name in sorted(names) for part in (name.encode(errors="surrogateescape"), _file_digest(names[name]))
    )
    return _sha256(parts)[:FILES_DIGITS]


def _file_digest(path: Path) -> bytes:
    """The digest of one file, which is read piece by piece."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").digest()
    except OSError as error:
        raise OffsphereError(f"cannot read {error.filename}: {error.strerror}") from error


def _sha256(parts: Iterable[bytes]) -> str:
    """The digest of pieces, each with its length before it: what tells ``ab, c`` from ``a, bc``."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()
