"""Where the vectors of one side of a task lie: found once by whoever has the ids, opened by others without any id.

Who divides a corpus reads its ids and finds the row of each vector. Who works on a piece of it needs neither the ids of
the others nor the search for them: it opens the same files, knows by their seal that they are the same, and reads rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from offsphere.base.arrays import Index, Vectors
from offsphere.base.digests import digest_of
from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import is_there, sha256_of
from offsphere.base.reading.parquet_footer import footer_digest
from offsphere.data.store import is_store, read_manifest
from offsphere.data.task import TaskSide
from offsphere.data.task_vectors import as_range, chosen_rows, open_side, pick_rows
from offsphere.data.vector_files import VectorFile, read_vectors, take_rows
from offsphere.data.vector_parts import is_parts, part_paths
from offsphere.vectors.finite import rows_without_length


@dataclass(frozen=True, slots=True, eq=False)
class LocatedSide:
    """The vectors of a side of a task, by the rows of their file; without ids, so that it can be sent to workers.

    Attributes:
        folder: Has a file, a store or parts of the side's name.
        side: What it is called.
        chosen: The rows that the side's vectors have in the file: a run of them, or an array where they stand anywhere.
        width: How many numbers a vector has.
        seal: By which somebody else knows the file again.
        verify: Whether rows of stores are compared with the digests they were stored with.
    """

    folder: Path
    side: TaskSide
    chosen: range | Index
    width: int
    seal: str
    verify: bool

    @classmethod
    def find(cls, folder: Path, side: TaskSide, cure: str, *, verify: bool = True) -> LocatedSide:
        """Find the vectors of a side by its ids.

        Args:
            folder: Has a file, a store or parts of the side's name.
            side: Of the task.
            cure: What to do about vectors that are missing.
            verify: Whether rows of stores are to be compared with their digests.

        Raises:
            DataError: There are none, several files of them, or damaged ones.
            VectorError: A file cannot be read, or a vector is missing.
        """
        file = open_side(folder, side, verify=False, lazy=True)
        chosen = chosen_rows(file, side, cure)
        run = range(len(file.vectors)) if chosen is None else as_range(chosen)
        rows = run if run is not None else np.array(chosen, np.int64)
        named = TaskSide(side.name, side.plural, side.stored_as)
        return cls(folder, named, rows, int(file.vectors.shape[1]), seal_of(file), verify)

    def opened(self) -> OpenSide:
        """Open the vectors, and read none of them and no id.

        Raises:
            DataError: There are none, or other ones than those that were found.
        """
        file = open_side(self.folder, self.side, verify=False, lazy=True, with_ids=False)
        check_seal(file, self.seal)
        return OpenSide(self, file)


@dataclass(frozen=True, eq=False)
class OpenSide:
    """The vectors of one side of a task, opened once; pieces of them are read when they are asked for, each once."""

    located: LocatedSide
    file: VectorFile

    def rows(self, only: range) -> Vectors:
        """The vectors of some rows of the side, in the task's order.

        Args:
            only: Which of them.

        Returns:
            The vectors: a view where they are mapped and stand one below the other, else read.

        Raises:
            DataError: They cannot be read, or are not those that were stored.
            VectorError: A number is not finite.
        """
        chosen = self.located.chosen[only.start : only.stop]
        run = chosen if isinstance(chosen, range) else as_range(chosen.tolist())
        if run is not None:
            taken = take_rows(self.file, run, verify=self.located.verify)
        else:
            taken = pick_rows(self._whole, list(chosen), str(self.file.path))
        rows_without_length(taken, self.located.side.name, lambda row: self.name_of(only.start + row))
        return taken

    def pick(self, rows: Index) -> Vectors:
        """The vectors of a few rows that stand anywhere: runs of them are read together.

        Args:
            rows: Each once, ascending.
        """
        runs = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
        some = [np.asarray(self.rows(range(int(run[0]), int(run[-1]) + 1))) for run in runs if len(run)]
        return np.concatenate(some or [np.asarray(self.rows(range(0)))])

    def name_of(self, row: int) -> str:
        """What an error calls a vector: by the id that its file has, for which all ids are read; else by its row."""
        side = self.located.side
        ids = open_side(self.located.folder, side, verify=False, lazy=True).ids
        return f"{ids[int(self.located.chosen[row])]!r} (row {row})" if ids is not None else f"row {row}"

    @cached_property
    def _whole(self) -> Vectors:
        """All vectors of the file, for rows that stand anywhere in it."""
        return take_rows(self.file, range(len(self.file.vectors)), verify=self.located.verify)


@dataclass(frozen=True, slots=True)
class LocatedFile:
    """Vectors alone, by where they lie; without ids, so that it can be sent to workers.

    Attributes:
        path: A file, a store, or a folder of parts.
        seal: By which somebody else knows them again.
        verify: Whether rows of stores are compared with the digests they were stored with.
    """

    path: Path
    seal: str
    verify: bool

    def opened(self) -> OpenFile:
        """Open the vectors, and read none of them and no id.

        Raises:
            DataError: There are none, or other ones than those that were found.
        """
        file = read_vectors(self.path, verify=False, lazy=True, with_ids=False)
        check_seal(file, self.seal)
        return OpenFile(file, self.verify)


@dataclass(frozen=True, slots=True)
class OpenFile:
    """Vectors alone, opened once; pieces of them are read when they are asked for."""

    file: VectorFile
    verify: bool

    def rows(self, only: range) -> Vectors:
        """Some of the vectors, as ``OpenSide.rows`` gives them; not checked yet."""
        return take_rows(self.file, only, verify=self.verify)


def seal_of(file: VectorFile) -> str:
    """A digest by which somebody else knows that he opened the same vectors in the same order.

    What tells their order is compared, never the numbers: the manifest of a store, the bytes of the ids beside a file,
    the footer of a packed one.

    Args:
        file: A file, a store or parts, as it was opened.
    """
    parts = part_paths(file.path) if is_parts(file.path) else [file.path]
    shape = f"{file.vectors.dtype} {file.vectors.shape}"
    return digest_of(text.encode() for text in (shape, *map(_order_of, parts)))


def check_seal(file: VectorFile, seal: str) -> None:
    """Refuse other vectors than those that were found.

    Raises:
        DataError: They have another seal.
    """
    if seal_of(file) != seal:
        raise DataError(
            f"{file.path} holds other vectors, or others' ids, than where the work was divided: it was changed "
            "meanwhile, or is another one on this machine: every worker must read the same files there"
        )


def _order_of(path: Path) -> str:
    """What tells which vector of a file is whose, in a few letters; nothing where they stand in the task's order."""
    if is_store(path):
        return read_manifest(path).ids
    if is_there(path.with_suffix(".ids")):
        return sha256_of(path.with_suffix(".ids"))
    if path.suffix == ".parquet":
        return footer_digest(path)
    return sha256_of(path) if path.suffix == ".npz" else ""  # which is read whole in any case
