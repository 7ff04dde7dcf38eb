"""Documents as blocks of rows: an array, a memory map or several of them, read a bounded piece at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from offsphere.base.arrays import Rows, Vectors
from offsphere.base.errors import VectorError
from offsphere.vectors.as_vectors import as_vectors
from offsphere.vectors.parted_rows import PartedRows

Documents = Vectors | Sequence[Vectors]

TILE = 1024  # rows; blocks are cut at multiples of it, so that what is computed per tile never depends on the block


@dataclass(frozen=True, slots=True)
class Blocks:
    """The rows of one or several arrays, read in float32 blocks of a fixed number of rows."""

    parts: tuple[Vectors, ...]
    rows: int = 16 * TILE

    @classmethod
    def of(cls, documents: Documents | Blocks, rows: int = 16 * TILE) -> Blocks:
        """Blocks of whatever the documents are kept in; ``rows`` is rounded up to whole tiles."""
        if isinstance(documents, Blocks):
            return cls(documents.parts, _whole_tiles(rows))
        parts = tuple(as_vectors(part, "documents") for given in _parts_of(documents) for part in _flat(given))
        parts = tuple(part for part in parts if len(part))
        if not parts:
            raise VectorError("there are no documents: the corpus is empty")
        for part in parts:
            if part.ndim != 2 or part.shape[1] != parts[0].shape[1]:  # noqa: PLR2004
                raise VectorError(f"a block of documents has shape {part.shape}, expected (n, {parts[0].shape[-1]})")
            if not np.issubdtype(part.dtype, np.floating):
                raise VectorError(f"documents are of type {part.dtype}: give float16 or float32")
        return cls(parts, _whole_tiles(rows))

    @property
    def count(self) -> int:
        """How many documents there are in all parts."""
        return sum(len(part) for part in self.parts)

    @property
    def dimension(self) -> int:
        """How many numbers a document has."""
        return int(self.parts[0].shape[1])

    @property
    def in_place(self) -> bool:
        """Whether a block takes no memory: the rows of one array that are float32 already, in memory or a map."""
        rows = self.parts[0]
        return (
            len(self.parts) == 1
            and isinstance(rows, np.ndarray)
            and rows.dtype == np.float32
            and rows.flags.c_contiguous
        )

    def __iter__(self) -> Iterator[Rows]:
        """Blocks of ``rows`` rows, across the borders of the parts; the last may be shorter."""
        pieces: list[Vectors] = []
        count = 0
        for part in self.parts:
            start = 0
            while start < len(part):
                piece = part[start : start + self.rows - count]
                pieces.append(piece)
                count += len(piece)
                start += len(piece)
                if count == self.rows:
                    yield _join(pieces)
                    pieces, count = [], 0
        if pieces:
            yield _join(pieces)


def _parts_of(documents: Any) -> Sequence[Any]:
    """Tell several arrays of rows from one array, or one list of rows."""
    several = isinstance(documents, list | tuple) and (not documents or np.ndim(documents[0]) == 2)  # noqa: PLR2004
    return documents if several else (documents,)


def _flat(rows: Any) -> Sequence[Any]:
    """Take rows that lie in parts part by part, so that they are never joined."""
    return rows.parts if isinstance(rows, PartedRows) else (rows,)


def _whole_tiles(rows: int) -> int:
    return max(1, -(-rows // TILE)) * TILE


def _join(pieces: list[Vectors]) -> Rows:
    whole = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    with np.errstate(over="ignore"):  # beyond float32 it is infinite, and refused by whoever measures its length
        return np.ascontiguousarray(whole, dtype=np.float32)
