"""Digests are short names for contents, by which things are known again. All of them are SHA-256."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from struct import Struct
from typing import Any

from numpy.typing import NDArray

from offsphere.base.errors import OffsphereError

# Stored in manifests and in the names of caches: with other lengths, nothing that is there would be found again.
PARTS_DIGITS, FILES_DIGITS = 24, 16
LARGE = 1 << 16  # bytes that are worth a call, or a thread, of their own
WAITING = 2  # pieces that may wait for the thread that hashes them
TOGETHER = 4_096  # texts that are hashed at once
LENGTH = Struct("<Q")


def digest_of(parts: Iterable[bytes]) -> str:
    """A short digest of several pieces, unambiguous where one ends and the next begins."""
    return _sha256([part] for part in parts)[:PARTS_DIGITS]


def digest_of_texts(texts: Iterable[str]) -> str:
    """A full digest of texts in their order, unambiguous where one ends and the next begins."""
    return _sha256(_encoded(texts))


def digest_of_ids(ids: Sequence[str]) -> str:
    """A full digest of ids in their order: ten times as fast as one of texts, where none has a zero character."""
    joined = "\0".join(ids)
    if joined.count("\0") != max(len(ids) - 1, 0):  # where one ends and the next begins could not be told
        return digest_of_texts(ids)
    digest = hashlib.sha256(f"{len(ids)} ids\0".encode())
    digest.update(joined.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


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
    return _sha256([part] for part in parts)[:FILES_DIGITS]


def _file_digest(path: Path) -> bytes:
    """The digest of one file, which is read piece by piece."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").digest()
    except OSError as error:
        raise OffsphereError(f"cannot read {error.filename}: {error.strerror}") from error


@contextmanager
def hashing_beside(digest: hashlib._Hash, content: bytes | memoryview) -> Iterator[None]:
    """Take bytes into a digest while the caller does something else with them, such as writing them.

    Args:
        digest: One of hashlib; it is up to date when the block ends.
        content: Must not change before the block ends.

    Example:
        >>> import hashlib
        >>> from offsphere.base.digests import hashing_beside
        >>> digest, written = hashlib.sha256(), bytearray()
        >>> with hashing_beside(digest, b"some bytes"):
        ...     written += b"some bytes"
        >>> digest.digest() == hashlib.sha256(b"some bytes").digest()
        True
    """
    with hashing_along(digest) as take:
        take(content)
        yield


@contextmanager
def hashing_along(digest: hashlib._Hash) -> Iterator[Callable[[bytes | memoryview], None]]:
    """Take a stream of bytes into a digest while the caller goes on with them.

    Args:
        digest: One of hashlib; it is up to date when the block ends.

    Yields:
        What takes bytes, which must not change before the block ends. It waits where two pieces are not hashed yet, so
        that no more than these are kept.

    Example:
        >>> import hashlib
        >>> from offsphere.base.digests import hashing_along
        >>> digest = hashlib.sha256()
        >>> with hashing_along(digest) as take:
        ...     take(b"some ")
        ...     take(b"bytes")
        >>> digest.digest() == hashlib.sha256(b"some bytes").digest()
        True
    """
    waiting: deque[Future[None]] = deque()
    with ThreadPoolExecutor(1) as pool:

        def take(content: bytes | memoryview) -> None:
            if not waiting and memoryview(content).nbytes < LARGE:
                digest.update(content)
                return
            if len(waiting) == WAITING:
                waiting.popleft().result()
            waiting.append(pool.submit(digest.update, content))  # hashlib lets other threads run meanwhile

        yield take
        for hashed in waiting:
            hashed.result()


def _sha256(batches: Iterable[Sequence[bytes]]) -> str:
    """The digest of pieces, each with its length before it: what tells ``ab, c`` from ``a, bc``."""
    digest = hashlib.sha256()
    for pieces in batches:
        heads = map(LENGTH.pack, map(len, pieces))
        both = chain.from_iterable(zip(heads, pieces, strict=True))
        for part in both if len(pieces) == 1 else (b"".join(both),):  # one may be an array that is not copied
            digest.update(part)
    return digest.hexdigest()


def _encoded(texts: Iterable[str]) -> Iterator[list[bytes]]:
    """Texts as bytes, many short ones together: a corpus has millions of ids."""
    rest = iter(texts)
    while together := list(islice(rest, TOGETHER)):
        at_once = TOGETHER if sum(map(len, together)) < LARGE * 16 else 1
        for first in range(0, len(together), at_once):
            yield [text.encode("utf-8", "surrogatepass") for text in together[first : first + at_once]]
