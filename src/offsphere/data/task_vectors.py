"""The vectors of a task, row by row in the task's order, checked before anything is computed from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from offsphere.base.arrays import Counts, Index, Vectors
from offsphere.base.errors import DataError, VectorError
from offsphere.data.pair_task import PairTask
from offsphere.data.ranking_task import RankingTask
from offsphere.data.vector_files import VectorFile, find_file, of_split, read_vectors
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
    def of(cls, task: RankingTask, queries: Vectors, documents: Vectors) -> RankingVectors:
        """Check arrays that are already in the task's order."""
        for side, vectors, ids in (("query", queries, task.query_ids), ("document", documents, task.document_ids)):
            if len(vectors) != len(ids):
                raise VectorError(f"there are {len(vectors)} {side} vectors for {len(ids)} of the task's {side} ids")
        _same_dimension(queries, documents, "query", "document")
        empty = _checked(queries, task.query_ids, "query") + _checked(documents, task.document_ids, "document")
        return cls(queries, documents, empty)

    def __repr__(self) -> str:
        """The shapes, not the numbers."""
        return f"RankingVectors(queries {self.queries.shape}, documents {self.documents.shape})"


@dataclass(frozen=True, slots=True, eq=False)
class PairVectors:
    """Vectors of a pair task's two sides; ``empty`` names those of length zero, the tokens are as above."""

    left: Vectors
    right: Vectors
    empty: Sequence[str] = field(default=())
    left_tokens: Counts | None = None
    right_tokens: Counts | None = None

    @classmethod
    def of(cls, task: PairTask, left: Vectors, right: Vectors) -> PairVectors:
        """Check arrays that are already in the task's order."""
        rows = [f"row {number}" for number in range(len(task.gold))]
        for side, vectors in (("left", left), ("right", right)):
            if len(vectors) != len(rows):
                raise VectorError(
                    f"there are {len(vectors)} {side} vectors for {len(rows)} pairs: are they of another split?"
                )
        _same_dimension(left, right, "left", "right")
        return cls(left, right, _checked(left, rows, "left") + _checked(right, rows, "right"))


def side_names(task: RankingTask | PairTask) -> tuple[str, str]:
    """What the vectors of the two sides are called; queries and pairs of a split other than test have its name."""
    if isinstance(task, PairTask):
        return of_split("left", task.split), of_split("right", task.split)
    return of_split("queries", task.split), "documents"


def check_fit(task: RankingTask | PairTask, vectors: RankingVectors | PairVectors) -> None:
    """Refuse vectors of another task, or of more or fewer queries than the task has."""
    if isinstance(task, PairTask) and isinstance(vectors, PairVectors):
        sides = [("pairs", len(task.gold), len(vectors.left))]
    elif isinstance(task, RankingTask) and isinstance(vectors, RankingVectors):
        sides = [
            ("queries", len(task.query_ids), len(vectors.queries)),
            ("documents", len(task.document_ids), len(vectors.documents)),
        ]
    else:
        raise VectorError(f"{task.name} is not a task for {type(vectors).__name__}")
    for name, wanted, there in sides:
        if wanted != there:
            raise VectorError(
                f"there are vectors of {there} {name}, {task.name} has {wanted}: a part of a task needs the vectors of "
                "that part, in its order"
            )


def keys_of_units(vectors: RankingVectors | PairVectors) -> Index:
    """A number for each query, or for each pair in its order."""
    if isinstance(vectors, PairVectors):
        return keys_of(np.concatenate([vectors.left, vectors.right], axis=1))
    return keys_of(vectors.queries)


def load_vectors(folder: str | Path, task: RankingTask | PairTask) -> RankingVectors | PairVectors:
    """Read ``queries.*`` and ``documents.*`` (pairs: ``left.*`` and ``right.*``) and put them into the task's order.

    For the split train, ``queries-train.*`` is read where it is there, and so on.
    """
    place = Path(folder)
    if not place.is_dir():
        raise DataError(f"{place} is not a folder of vectors")
    names = side_names(task)
    if isinstance(task, PairTask):
        left, right = _side(place, names[0], "left"), _side(place, names[1], "right")
        held = PairVectors.of(task, left.vectors, right.vectors)
        return replace(held, left_tokens=left.tokens, right_tokens=right.tokens)
    queries = _ordered(_side(place, names[0], "queries"), task.query_ids, task.listed_query_ids, "query")
    documents = _ordered(_side(place, names[1], "documents"), task.document_ids, task.document_ids, "document")
    found = RankingVectors.of(task, queries.vectors, documents.vectors)
    return replace(found, query_tokens=queries.tokens, document_tokens=documents.tokens)


def _side(folder: Path, name: str, side: str) -> VectorFile:
    """The vectors of that name, else those of the whole side."""
    path = find_file(folder, name) or find_file(folder, side)
    if path is None:
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
