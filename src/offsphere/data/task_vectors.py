"""The vectors of a task, row by row in the task's order, checked before anything is computed from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from offsphere.base.arrays import Counts, Index, Vectors
from offsphere.base.errors import DataError, VectorError
from offsphere.data.task import Task, TaskSide, TaskVectors
from offsphere.data.vector_files import VectorFile, find_file, read_vectors
from offsphere.vectors.blocks import Blocks
from offsphere.vectors.contents import keys_of
from offsphere.vectors.lengths import lengths


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RankingVectors:
    """Vectors of a ranking task's queries and documents; ``empty`` names those of length zero.

    ``query_tokens`` and ``document_tokens`` say how many tokens the model saw of each text, where that is known.
    """

    queries: Vectors
    documents: Vectors
    empty: Sequence[str] = field(default=())
    query_tokens: Counts | None = None
    document_tokens: Counts | None = None

    @classmethod
    def of(cls, task: Task, queries: Vectors, documents: Vectors) -> RankingVectors:
        """Check arrays that are already in the task's order."""
        empty: list[str] = []
        for side, vectors in zip(task.sides, (queries, documents), strict=True):
            assert side.ids is not None  # queries and documents have names
            if len(vectors) != len(side.ids):
                raise VectorError(
                    f"there are {len(vectors)} {side.name} vectors for {len(side.ids)} of the task's {side.name} ids"
                )
        _same_dimension(queries, documents, "query", "document")
        for side, vectors in zip(task.sides, (queries, documents), strict=True):
            empty += _checked(vectors, side.ids or (), side.name)
        return cls(queries, documents, empty)

    def __repr__(self) -> str:
        """The shapes, not the numbers."""
        return f"RankingVectors(queries {self.queries.shape}, documents {self.documents.shape})"

    @property
    def unnamed_sides(self) -> tuple[TaskSide, TaskSide]:
        """Both sides where no task says more of them."""
        return TaskSide("query", "queries", "queries"), TaskSide("document", "documents", "documents")

    @property
    def sides(self) -> tuple[Vectors, Vectors]:
        """Queries and documents."""
        return self.queries, self.documents

    @property
    def tokens(self) -> tuple[Counts | None, Counts | None]:
        """How many tokens the model saw of each query and document, where that is known."""
        return self.query_tokens, self.document_tokens

    @property
    def fitted_on(self) -> Sequence[Vectors]:
        """Transforms are fitted on the documents."""
        return (self.documents,)

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return int(self.documents.shape[1])

    def unit_keys(self) -> Index:
        """A number for each query, which depends on its vector alone."""
        return keys_of(self.queries)

    def only(self, rows: Index) -> RankingVectors:
        """The vectors of some queries, and of all documents."""
        return replace(self, queries=self.queries[rows], query_tokens=None)


@dataclass(frozen=True, slots=True, eq=False)
class PairVectors:
    """Vectors of a pair task's two sides; ``empty`` names those of length zero, the tokens are as above."""

    left: Vectors
    right: Vectors
    empty: Sequence[str] = field(default=())
    left_tokens: Counts | None = None
    right_tokens: Counts | None = None

    @classmethod
    def of(cls, task: Task, left: Vectors, right: Vectors) -> PairVectors:
        """Check arrays that are already in the task's order."""
        rows = [f"row {number}" for number in range(task.units)]
        for side, vectors in (("left", left), ("right", right)):
            if len(vectors) != len(rows):
                raise VectorError(
                    f"there are {len(vectors)} {side} vectors for {len(rows)} pairs: are they of another split?"
                )
        _same_dimension(left, right, "left", "right")
        return cls(left, right, _checked(left, rows, "left") + _checked(right, rows, "right"))

    @property
    def unnamed_sides(self) -> tuple[TaskSide, TaskSide]:
        """Both sides where no task says more of them."""
        return TaskSide("left", "left", "left"), TaskSide("right", "right", "right")

    @property
    def sides(self) -> tuple[Vectors, Vectors]:
        """Left and right."""
        return self.left, self.right

    @property
    def tokens(self) -> tuple[Counts | None, Counts | None]:
        """How many tokens the model saw of each text of both sides, where that is known."""
        return self.left_tokens, self.right_tokens

    @property
    def fitted_on(self) -> Sequence[Vectors]:
        """Transforms are fitted on both sides, since they play one role."""
        return self.left, self.right

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return int(self.right.shape[1])

    def unit_keys(self) -> Index:
        """A number for each pair in its order, which depends on its vectors alone."""
        return keys_of(np.concatenate([self.left, self.right], axis=1))

    def only(self, rows: Index) -> PairVectors:
        """The vectors of some pairs."""
        return PairVectors(self.left[rows], self.right[rows])


def load_vectors(folder: str | Path, task: Task) -> TaskVectors:
    """Read ``queries.*`` and ``documents.*`` (pairs: ``left.*`` and ``right.*``) and put them into the task's order.

    For the split train, ``queries-train.*`` is read where it is there, and so on.
    """
    place = Path(folder)
    if not place.is_dir():
        raise DataError(f"{place} is not a folder of vectors")
    files = [_side(place, side) for side in task.sides]
    ordered = [
        file if side.ids is None else _ordered(file, side.ids, side.listed or side.ids, side.name)
        for file, side in zip(files, task.sides, strict=True)
    ]
    return task.vectors(ordered[0].vectors, ordered[1].vectors, (ordered[0].tokens, ordered[1].tokens))


def _side(folder: Path, side: TaskSide) -> VectorFile:
    """The vectors of the side's split, else those of the whole side."""
    path = find_file(folder, side.stored_as) or find_file(folder, side.plural)
    if path is None:
        name = side.stored_as
        raise DataError(
            f"{folder} has no {name} vectors (a store, {name}.npy, .npz, .parquet or .safetensors): make some with "
            "offsphere embed DATA --out DIR, and say where they are with --vectors DIR"
        )
    return read_vectors(path)


def _ordered(file: VectorFile, wanted: Sequence[str], listed: Sequence[str], kind: str) -> VectorFile:
    """The rows of the wanted ids. A file without ids is in the order of the wanted or of all listed ones."""
    ids = file.ids
    if ids is None:
        if len(file.vectors) == len(wanted):
            return file
        if len(file.vectors) != len(listed):
            raise VectorError(
                f"{file.path} has {len(file.vectors)} vectors and no ids, the task has {len(listed)} {kind} ids: "
                f"add {file.path.with_suffix('.ids').name} with one id a line"
            )
        ids = listed
    if list(ids) == list(wanted):
        return file  # stays on disk where it is a map
    rows = {name: row for row, name in enumerate(ids)}
    if len(rows) < len(ids):
        name, times = Counter(ids).most_common(1)[0]
        raise VectorError(f"{file.path}: {kind} id {name!r} stands there {times} times: ids must not repeat")
    missing = [name for name in wanted if name not in rows]
    if missing:
        raise VectorError(f"{file.path} has no vector for {kind} {missing[0]!r} ({len(missing)} are missing)")
    chosen = [rows[name] for name in wanted]
    tokens = file.tokens[chosen] if file.tokens is not None else None
    return VectorFile(file.path, file.vectors[chosen], wanted, tokens)


def _same_dimension(one: Vectors, other: Vectors, first: str, second: str) -> None:
    if one.shape[1] != other.shape[1]:
        raise VectorError(
            f"{first} vectors have {one.shape[1]} dimensions, {second} vectors {other.shape[1]}: use one model for both"
        )


def _checked(vectors: Vectors, ids: Sequence[str], kind: str) -> list[str]:
    """The vectors of length zero, by name; an error for the first that is not finite."""
    empty, first = [], 0
    for block in Blocks.of(vectors):
        own = lengths(block)
        bad = np.flatnonzero(~np.isfinite(own))
        if len(bad):
            row = first + int(bad[0])
            raise VectorError(f"{kind} vector of {ids[row]!r} (row {row}) is not finite: encode that text again")
        empty += [f"{kind} {ids[first + int(row)]!r}" for row in np.flatnonzero(own == 0)]
        first += len(block)
    return empty
