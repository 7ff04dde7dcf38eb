"""Opening a file for reading: what cannot be opened or parsed is one line that names the file, whoever parses it."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

from offsphere.base.errors import ENDINGS, DataError, OffsphereError, first_line
from offsphere.base.remote_path import is_remote

PIECE = 1 << 20  # bytes that are read at a time
PACKINGS = {".gz": "gzip", ".zst": "zstd"}  # by the end of a name
MOST_BYTES = 1 << 28  # of what is read whole into Python's objects: JSON, TOML, a line of text
SMALL = 1 << 26  # bytes that may be packed as tightly as they like
TIGHTEST = 200  # times that numbers and texts can be packed smaller; zlib's limit, for zeros, is 1,032


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn whatever a parser raises into one line: it was written by others, and its errors are of every kind.

    Args:
        path: The file that is read.
        kind: What it should be, with its article: ``"a parquet file"``.

    Raises:
        DataError: In place of any other error; errors that offsphere raises on purpose pass.
    """
    try:
        yield
    except (OffsphereError, *ENDINGS):
        raise
    except OSError as error:
        raise cannot_parse(path, kind, error) from error
    except MemoryError as error:
        raise DataError(f"{path} does not fit into the memory of this machine") from error
    except RecursionError as error:
        raise DataError(f"{path} is not {kind} that can be read: it is nested too deep") from error
    except BaseException as error:  # a parser in Rust that fails itself raises what is no Exception
        raise DataError(f"{path} is truncated or not {kind}: {first_line(error)}") from error


def is_there(path: Path) -> bool:
    """Whether anything has this name: what may be left out is nothing only where nothing is there.

    A folder, a pipe or a link that leads nowhere is there too, and refused by whoever opens it.

    Args:
        path: A file that belongs to another, or one of several that a folder may have.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from offsphere.base.reading.file_access import is_there
        >>> folder = Path(tempfile.mkdtemp())
        >>> (folder / "v.ids").symlink_to("nowhere")
        >>> is_there(folder / "v.ids"), is_there(folder / "queries.ids")
        (True, False)
    """
    return path.exists() if is_remote(path) else os.path.lexists(path)


def open_file(path: Path) -> BufferedReader:
    """Open a regular file to read its bytes; a folder, a device or a pipe is no file of data.

    Raises:
        DataError: There is no such file, it is not a regular one, or it may not be read.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise DataError(f"{path} is a folder, not a file")
        if not stat.S_ISREG(mode):
            raise DataError(f"{path} is not a regular file")
        return path.open("rb")
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise cannot_read(path, error) from error


def open_unpacked(path: Path) -> IO[bytes]:
    """Open a file as ``open_file`` does; one that ends in .gz or .zst is unpacked as it is read.

    What unpacks to more than any text does is refused while it is read.

    Raises:
        DataError: There is no such file, it is not a regular one, it may not be read, or should be packed and is empty.
    """
    stream = open_file(path)
    packing = PACKINGS.get(path.suffix)
    if packing is None:
        return stream
    packed = path.stat().st_size
    if not packed:  # even nothing takes some bytes to be packed
        stream.close()
        raise DataError(f"{path} is truncated or not packed as its name says: it is empty")
    import pyarrow as pa

    return io.BufferedReader(_Unpacked(pa.CompressedInputStream(stream, packing), path, packed), PIECE)


def refuse_bomb(where: Path | str, size: int, packed: int) -> None:
    """Refuse what unpacks to far more than vectors, pictures or texts do.

    Raises:
        DataError: It is a bomb: it was made to fill the memory of whoever unpacks it.
    """
    if size > SMALL and size > TIGHTEST * packed:
        raise DataError(f"{where} unpacks to {size:,} bytes from {packed:,}: no data is packed so tightly")


class _Unpacked(io.RawIOBase):
    """What comes out of a packed file, counted as it comes."""

    def __init__(self, stream: Any, path: Path, packed: int) -> None:
        super().__init__()
        self._stream, self._path, self._packed, self._count = stream, path, packed, 0

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, and count."""
        piece = self._stream.read(len(buffer))
        buffer[: len(piece)] = piece
        self._count += len(piece)
        refuse_bomb(self._path, self._count, self._packed)
        return len(piece)

    def close(self) -> None:
        """Close the packed file too."""
        self._stream.close()
        super().close()


def read_bounded(path: Path, most: int = MOST_BYTES) -> bytes:
    """Read a whole file that should be small.

    Raises:
        DataError: It cannot be read, or has more bytes than that.
    """
    with reading(path, "a file that can be read"), open_file(path) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise DataError(f"{path} is larger than {most:,} bytes: it is no such file")
    return content


def sha256_of(path: Path) -> str:
    """The SHA-256 digest of a file's bytes, which are read piece by piece.

    Raises:
        DataError: It cannot be read.
    """
    digest = hashlib.sha256()
    with reading(path, "a file that can be read"), open_file(path) as stream:
        while piece := stream.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


def cannot_parse(path: Path, kind: str, error: OSError) -> DataError:
    """Say in one line why reading a file stopped: what pyarrow cannot parse has no number, a disk's errors have."""
    if error.errno is None:
        return DataError(f"{path} is truncated or not {kind}: {first_line(error)}")
    return cannot_read(path, error)


def cannot_read(path: Path, error: OSError | ValueError) -> DataError:
    """Say in one line why a file cannot be opened."""
    if isinstance(error, FileNotFoundError):
        return DataError(f"{path} is a link that leads nowhere" if path.is_symlink() else f"{path} does not exist")
    if isinstance(error, OSError) and error.errno == errno.EISDIR:
        return DataError(f"{path} is a folder, not a file")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else first_line(error)
    return DataError(f"{path} cannot be read: {reason}")
