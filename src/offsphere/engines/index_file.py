"""An index that is a file: it appears as a whole, its ids beside it a line each, and the checksums of all."""

from __future__ import annotations

import hashlib
import os
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType

from offsphere.base.arrays import Rows
from offsphere.base.checksums import HashedStream, checksum_lines, checksums_beside
from offsphere.base.digests import digest_of_texts
from offsphere.base.errors import DataError, OffsphereError
from offsphere.base.files import file_beside, whole_file
from offsphere.base.local_paths import local_path
from offsphere.base.reading.file_access import PIECE, is_there, sha256_of
from offsphere.data.vector_files import ids_beside
from offsphere.engines.collection import Collection, Layout
from offsphere.engines.target import Target

HAS_A_FIELD = "take an engine that has a field for ids: duckdb:FILE:TABLE"
_NO_LINE = re.compile(r"^\ufeff|^\s|[^\S\n]$|\r", re.MULTILINE)  # what reading a line would change; an empty one too


class IndexStream(HashedStream):
    """The stream of an index, and what will stand beside it: its ids, and what the index does not say of itself."""

    ids: Sequence[str] = ()
    header: bytes = b""
    checksums: Mapping[str, str] = MappingProxyType({})  # of all these by the names of their files, at the end


@contextmanager
def file_with_ids(path: Path, beside: Path | None = None, header: Path | None = None) -> Iterator[IndexStream]:
    """Open a file for what has no room for ids: these stand beside it, a line each, and checksums of both.

    All are written to their end before the first of them appears. The checksums appear first and the vectors last, so
    that new vectors are never taken together with old ids, or with what was said of others: between the first and the
    last, who reads them sees that the checksums are of other files.

    Args:
        path: The file of the index or the vectors.
        beside: The file of the ids; one that ends in ``.ids`` instead of the other's ending unless said.
        header: The file of what the index does not say of itself, where there is such a file.

    Yields:
        The stream to write to; its ``ids``, and its ``header`` where there is a file of it, are to be set before the
        end.

    Raises:
        OffsphereError: A file cannot be written, or an id cannot stand in a line. Nothing was changed.
    """
    beside = beside or path.with_suffix(".ids")
    paths = [beside] if header is None else [beside, header]
    with ExitStack() as files:
        vectors, *others, checksums = (
            files.enter_context(whole_file(file)) for file in (path, *paths, checksums_beside(path))
        )
        hashed = IndexStream(vectors)
        yield hashed
        listed = {path.name: hashed.checksum}
        for file, stream, content in zip(paths, others, (id_lines(hashed.ids, beside), hashed.header), strict=False):
            stream.write(content)
            listed[file.name] = hashlib.sha256(content).hexdigest()
        checksums.write(checksum_lines(listed))
        hashed.checksums = listed
        for stream in (vectors, *others, checksums):  # a full disk is noticed here, while all old files are whole
            stream.flush()
            os.fsync(stream.fileno())


def id_lines(ids: Sequence[str], path: Path, cure: str = "export to .parquet") -> bytes:
    """The ids a line each; an error where one would not be read as it is.

    Args:
        ids: As many as there are rows.
        path: The file that they will stand in.
        cure: What else to do than to give such a document another id.

    Raises:
        OffsphereError: An id has a line break, begins or ends with a blank, or is empty.
    """
    lines = "\n".join([*ids, ""])
    without_blanks = lines.split() == list(ids) and "\ufeff" not in lines  # nearly always, and seen four times as fast
    if not without_blanks and (lines.count("\n") > len(ids) or _NO_LINE.search(lines)):
        row, name = next((row, name) for row, name in enumerate(ids) if "\n" in name or _NO_LINE.search(name + "\n"))
        raise OffsphereError(
            f"cannot write {path}: the id {name!r} in row {row} does not fit into a line: give it another, or {cure}"
        )
    return lines.encode()


class FileCollection(Collection):
    """A collection that is a file. It is built in memory, or streamed, and appears in ``finish``."""

    resumable = False

    def __init__(self, where: Target, *, id_field: str | None = None, vector_name: str | None = None) -> None:
        for option, given in (("--id-field", id_field), ("--vector-column", vector_name)):
            if given is not None:
                raise OffsphereError(f"{where} is an index and has no fields: leave {option} {given!r} out")
        self.path = local_path(where.location)
        self.ids_path = self.path.with_name(f"{self.path.name}.ids")
        self.header_path: Path | None = None  # of what the index does not say of itself
        self._checksum: str | None = None
        self._added: list[str] = []
        self._names: Sequence[str] | None = None

    def check(self, layout: Layout, ids: Sequence[str]) -> None:  # noqa: ARG002
        """Refuse an id that does not fit into a line."""
        id_lines(ids, self.ids_path, HAS_A_FIELD)

    def add(self, ids: Sequence[str], rows: Rows) -> None:
        """Add vectors, which the index knows by their numbers."""
        self.add_rows(rows)
        self._added += ids

    @abstractmethod
    def add_rows(self, rows: Rows) -> None:
        """Add vectors to the index that is being built."""

    @abstractmethod
    def write(self, stream: IndexStream) -> None:
        """Write the index that was built."""

    def write_saved(self, save: Callable[[str], object], stream: IndexStream) -> None:
        """Write what a package saves to a path: through a file, since in memory it would be there twice."""
        with file_beside(self.path) as beside:
            save(str(beside))
            with beside.open("rb") as saved:
                while piece := saved.read(PIECE):
                    stream.write(piece)

    def finish(self) -> None:
        """Write the index, and what stands beside it."""
        with file_with_ids(self.path, self.ids_path, self.header_path) as stream:
            self.write(stream)
            stream.ids = self._added
        self.know_written(stream)

    def know_written(self, stream: IndexStream) -> None:
        """Take up what was written: the names of before are not those of now, and the checksum is known."""
        self._names = None
        self._checksum = digest_of_texts([stream.checksums[file.name] for file in self._files])

    def checksum(self) -> str:
        """The checksum of the index and of what stands beside it; they are read, unless they were written here."""
        if self._checksum is None:
            self._checksum = digest_of_texts([sha256_of(file) if is_there(file) else "" for file in self._files])
        return self._checksum

    @property
    def _files(self) -> list[Path]:
        """The files that belong together."""
        return [self.path, self.ids_path, *([self.header_path] if self.header_path is not None else [])]

    def names(self, rows: int) -> Mapping[int, str] | Sequence[str]:
        """The ids of the rows of the index, from the file beside it; their numbers where there is none."""
        if self._names is None:
            self._names = self.known_names(rows) or [str(row) for row in range(rows)]
        return self._names

    def known_names(self, rows: int) -> Sequence[str] | None:
        """The ids in the file beside the index; nothing where there is none."""
        return ids_beside(self.path, rows, self.ids_path)

    def remove(self) -> None:
        """Remove the file and those beside it."""
        self._checksum = None
        for path in (*self._files, checksums_beside(self.path)):
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
