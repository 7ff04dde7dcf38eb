"""An index that is a file: it appears as a whole, its ids beside it a line each, and the checksums of both."""

from __future__ import annotations

import hashlib
import os
import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from offsphere.base.arrays import Rows
from offsphere.base.checksums import HashedStream, checksum_lines, checksums_beside
from offsphere.base.errors import DataError, OffsphereError
from offsphere.base.files import whole_file
from offsphere.data.vector_files import ids_beside
from offsphere.engines.collection import Collection
from offsphere.engines.target import Target

_NO_LINE = re.compile(r"^\ufeff|^\s|[^\S\n]$|\r", re.MULTILINE)  # what reading a line would change; an empty one too


class IndexStream(HashedStream):
    """The stream of an index, and the ids that will stand beside it."""

    ids: Sequence[str] = ()


@contextmanager
def file_with_ids(path: Path, beside: Path | None = None) -> Iterator[IndexStream]:
    """Open a file for what has no room for ids: these stand beside it, a line each, and checksums of both.

    All three are written to their end before the first of them appears. The checksums appear first and the vectors
    last, so that new vectors are never taken together with old ids: between the first and the last, who reads them sees
    that the checksums are of other files.

    Args:
        path: The file of the index or the vectors.
        beside: The file of the ids; one that ends in ``.ids`` instead of the other's ending unless said.

    Yields:
        The stream to write to; its ``ids`` are to be set before the end.

    Raises:
        OffsphereError: A file cannot be written, or an id cannot stand in a line. Nothing was changed.
    """
    beside = beside or path.with_suffix(".ids")
    with whole_file(path) as vectors, whole_file(beside) as ids, whole_file(checksums_beside(path)) as checksums:
        hashed = IndexStream(vectors)
        yield hashed
        lines = id_lines(hashed.ids, beside)
        ids.write(lines)
        checksums.write(checksum_lines({path.name: hashed.checksum, beside.name: hashlib.sha256(lines).hexdigest()}))
        for stream in (vectors, ids, checksums):  # a disk that is full is noticed here, while all old files are whole
            stream.flush()
            os.fsync(stream.fileno())


def id_lines(ids: Sequence[str], path: Path) -> bytes:
    """The ids a line each; an error where one would not be read as it is."""
    lines = "".join(map("{}\n".format, ids))
    if lines.count("\n") > len(ids) or _NO_LINE.search(lines):  # one look at all of them, and at each if need be
        row, name = next((row, name) for row, name in enumerate(ids) if "\n" in name or _NO_LINE.search(name + "\n"))
        raise OffsphereError(
            f"cannot write {path}: the id {name!r} in row {row} does not fit into a line: give it another, or export "
            "to .parquet"
        )
    return lines.encode()


class FileCollection(Collection):
    """A collection that is a file. It is built in memory, or streamed, and appears in ``finish``."""

    resumable = False

    def __init__(self, where: Target, *, id_field: str | None = None, vector_name: str | None = None) -> None:
        for option, given in (("--id-field", id_field), ("--vector-column", vector_name)):
            if given is not None:
                raise OffsphereError(f"{where} is an index and has no fields: leave {option} {given!r} out")
        self.path = Path(where.location)
        self.ids_path = self.path.with_name(f"{self.path.name}.ids")
        self._added: list[str] = []
        self._names: list[str] | None = None

    def add(self, ids: Sequence[str], rows: Rows) -> None:
        """Add vectors, which the index knows by their numbers."""
        id_lines(ids, self.ids_path)
        self.add_rows(rows)
        self._added += ids

    @abstractmethod
    def add_rows(self, rows: Rows) -> None:
        """Add vectors to the index that is being built."""

    @abstractmethod
    def write(self, stream: IndexStream) -> None:
        """Write the index that was built."""

    def finish(self) -> None:
        """Write the index and the ids beside it."""
        with file_with_ids(self.path, self.ids_path) as stream:
            self.write(stream)
            stream.ids = self._added
        self._names = None

    def names(self, rows: int) -> Mapping[int, str] | Sequence[str]:
        """The ids of the rows of the index, from the file beside it; their numbers where there is none."""
        if self._names is None:
            self._names = self.known_names(rows) or [str(row) for row in range(rows)]
        return self._names

    def known_names(self, rows: int) -> list[str] | None:
        """The ids in the file beside the index; nothing where there is none."""
        return ids_beside(self.path, rows, self.ids_path)

    def remove(self) -> None:
        """Remove the file and those beside it."""
        for path in (self.path, self.ids_path, checksums_beside(self.path)):
            with suppress(FileNotFoundError):
                path.unlink()

    def there(self) -> bool:
        """Whether the file is there.

        Raises:
            DataError: It is a folder.
        """
        if self.path.is_dir():
            raise DataError(f"{self.path} is a folder, not a file")
        return self.path.is_file()

    def __repr__(self) -> str:
        """The file that it is, for messages."""
        return str(self.path)
