"""The vectors of a task, row by row in the task's order, and checked before anything is computed from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from offsphere.base.arrays import Counts, Index, Vectors
from offsphere.base.errors import DataError, ParameterError, VectorError
from offsphere.base.remote_path import given_path
from offsphere.base.shown_ids import shown_id
from offsphere.base.spilled import gather_rows
from offsphere.data.embedded_table import EmbeddedTable
from offsphere.data.id_column import same_ids
from offsphere.data.list_columns import BLOCK
from offsphere.data.store import is_store, read_manifest
from offsphere.data.task import Task, TaskSide, TaskVectors
from offsphere.data.vector_files import VectorFile, find_file, read_vectors
from offsphere.vectors.as_vectors import as_vectors
from offsphere.vectors.contents import keys_of
from offsphere.vectors.finite import rows_without_length
from offsphere.vectors.parted_rows import cut_rows


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RankingVectors:
    """The vectors of a ranking task's queries and documents, in the task's order.

    ``osp.embed`` and ``osp.load_vectors`` make them; ``task.vectors`` makes them from arrays.

    Attributes:
        queries: A row for each query.
        documents: A row for each document; may be a memory map.
        empty: The names of the vectors that have length zero.
        query_tokens: How many tokens the model saw of each query, where that is known.
        document_tokens: How many tokens the model saw of each document, where that is known.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> vectors = osp.RankingVectors(np.eye(2, dtype=np.float32), np.ones((5, 2), np.float32))
        >>> vectors
        RankingVectors(queries (2, 2), documents (5, 2))
        >>> vectors.dimension
        2
    """

    queries: Vectors
    documents: Vectors
    empty: Sequence[str] = ()
    query_tokens: Counts | None = None
    document_tokens: Counts | None = None

    def __post_init__(self) -> None:
        """Make arrays of lists."""
        for side, name in (("queries", "query vectors"), ("documents", "document vectors")):
            object.__setattr__(self, side, as_vectors(getattr(self, side), name))

    @classmethod
    def of(cls, task: Task, queries: Vectors, documents: Vectors) -> RankingVectors:
        """Check arrays that are in the task's order already, and name those of length zero.

        Args:
            task: The ranking task that the vectors are of.
            queries: A row for each query.
            documents: A row for each document.

        Returns:
            The vectors.

        Raises:
            VectorError: There are more or fewer rows than ids, a row has no numbers, or a number is not finite.

        Example:
            >>> import numpy as np
            >>> import offsphere as osp
            >>> task = osp.RankingTask.from_judgments({"q1": {"d1": 1}}, ["d1", "d2"])
            >>> documents = np.array([[3, 4], [0, 0]], np.float32)
            >>> osp.RankingVectors.of(task, documents[:1], documents).empty
            ["document 'd2'"]
        """
        queries, documents = arrays = as_vectors(queries, "query vectors"), as_vectors(documents, "document vectors")
        names = [side.ids or () for side in task.sides]
        for side, ids, vectors in zip(task.sides, names, arrays, strict=True):
            if len(vectors) != len(ids):
                raise VectorError(
                    f"there are {len(vectors)} {side.name} vectors for {len(ids)} of the task's {side.name} ids"
                )
        _check_shapes(queries, documents, "query", "document")
        empty: list[str] = []
        for side, ids, vectors in zip(task.sides, names, arrays, strict=True):
            empty += _empty_names(vectors, ids, side.name)
        return cls(queries, documents, empty)

    def __repr__(self) -> str:
        """The shapes, not the numbers."""
        return f"RankingVectors(queries {self.queries.shape}, documents {self.documents.shape})"

    @property
    def unnamed_sides(self) -> tuple[TaskSide, TaskSide]:
        """What the two sides are called, for whoever has vectors and no task."""
        return TaskSide("query", "queries", "queries"), TaskSide("document", "documents", "documents")

    @property
    def sides(self) -> tuple[Vectors, Vectors]:
        """The vectors of the queries, then of the documents."""
        return self.queries, self.documents

    @property
    def tokens(self) -> tuple[Counts | None, Counts | None]:
        """How many tokens the model saw of each query and document, where that is known."""
        return self.query_tokens, self.document_tokens

    @property
    def fitted_on(self) -> Sequence[Vectors]:
        """The vectors that transforms are fitted on: the documents."""
        return (self.documents,)

    @property
    def dimension(self) -> int:
        """How many numbers a document's vector has."""
        return int(self.documents.shape[1])

    @property
    def widths(self) -> tuple[int, int]:
        """How many numbers a query's vector has, and a document's: two models may give two widths."""
        return int(self.queries.shape[1]), int(self.documents.shape[1])

    def unit_keys(self) -> Index:
        """A number for each query that depends on its vector alone, to know it again in other data."""
        return keys_of(self.queries)

    def only(self, rows: Index) -> RankingVectors:
        """The vectors of some queries, by their rows, and of all documents."""
        return replace(self, queries=self.queries[rows], query_tokens=_pick_tokens(self.query_tokens, rows))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairVectors:
    """The vectors of a pair task's two sides, in the task's order.

    Attributes:
        left: A row for the left side of each pair.
        right: A row for the right side of each pair.
        empty: The names of the vectors that have length zero.
        left_tokens: How many tokens the model saw of each left item, where that is known.
        right_tokens: How many tokens the model saw of each right item, where that is known.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> vectors = osp.PairVectors(np.eye(3, dtype=np.float32), np.ones((3, 3), np.float32))
        >>> vectors.only(np.array([2])).left.tolist()
        [[0.0, 0.0, 1.0]]
    """

    left: Vectors
    right: Vectors
    empty: Sequence[str] = ()
    left_tokens: Counts | None = None
    right_tokens: Counts | None = None

    def __post_init__(self) -> None:
        """Make arrays of lists."""
        for side in ("left", "right"):
            object.__setattr__(self, side, as_vectors(getattr(self, side), f"{side} vectors"))

    @classmethod
    def of(cls, task: Task, left: Vectors, right: Vectors) -> PairVectors:
        """Check arrays that are in the task's order already, and name those of length zero.

        Args:
            task: The pair task that the vectors are of.
            left: A row for the left side of each pair.
            right: A row for the right side of each pair.

        Returns:
            The vectors.

        Raises:
            VectorError: There are more or fewer rows than pairs, the widths differ, or a number is not finite.

        Example:
            >>> import numpy as np
            >>> import offsphere as osp
            >>> task = osp.PairTask("pairs", np.arange(3.0))
            >>> rows = np.ones((3, 2), np.float32)
            >>> osp.PairVectors.of(task, rows, rows).sides[1].shape
            (3, 2)
        """
        left, right = as_vectors(left, "left vectors"), as_vectors(right, "right vectors")
        rows = [f"row {number}" for number in range(task.units)]
        for side, vectors in (("left", left), ("right", right)):
            if len(vectors) != len(rows):
                raise VectorError(
                    f"there are {len(vectors)} {side} vectors for {len(rows)} pairs: are they of another split?"
                )
        _check_shapes(left, right, "left", "right")
        if left.shape[1] != right.shape[1]:
            raise VectorError(
                f"left vectors have {left.shape[1]} dimensions, right vectors {right.shape[1]}: the sides of pairs "
                "play one role, so use one model for both"
            )
        return cls(left, right, _empty_names(left, rows, "left") + _empty_names(right, rows, "right"))

    def __repr__(self) -> str:
        """The shapes, not the numbers."""
        return f"PairVectors(left {self.left.shape}, right {self.right.shape})"

    @property
    def unnamed_sides(self) -> tuple[TaskSide, TaskSide]:
        """What the two sides are called, for whoever has vectors and no task."""
        return TaskSide("left", "left", "left"), TaskSide("right", "right", "right")

    @property
    def sides(self) -> tuple[Vectors, Vectors]:
        """The vectors of the left side, then of the right."""
        return self.left, self.right

    @property
    def tokens(self) -> tuple[Counts | None, Counts | None]:
        """How many tokens the model saw of each text of both sides, where that is known."""
        return self.left_tokens, self.right_tokens

    @property
    def fitted_on(self) -> Sequence[Vectors]:
        """The vectors that transforms are fitted on: both sides, since they play one role."""
        return self.left, self.right

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return int(self.right.shape[1])

    @property
    def widths(self) -> tuple[int, int]:
        """How many numbers a vector of each side has, which is one number for pairs."""
        return self.dimension, self.dimension

    def unit_keys(self) -> Index:
        """A number for each pair that depends on its vectors and their order alone, to know it again in other data."""
        return keys_of(np.concatenate([self.left, self.right], axis=1))

    def only(self, rows: Index) -> PairVectors:
        """The vectors of some pairs, by their rows."""
        return replace(
            self,
            left=self.left[rows],
            right=self.right[rows],
            left_tokens=_pick_tokens(self.left_tokens, rows),
            right_tokens=_pick_tokens(self.right_tokens, rows),
        )


def load_vectors(folder: str | Path, task: Task, *, verify: bool = True, data: str = "DATA") -> TaskVectors:
    """Read the vectors of both sides of a task and put them into the task's order.

    Args:
        folder: Has ``queries.*`` and ``documents.*`` (pairs: ``left.*`` and ``right.*``), each a ``.npy``, ``.npz``,
            ``.parquet`` or ``.safetensors`` file, a store, or a folder of such parts. For the split train,
            ``queries-train.*`` is read where it is there, and so on. A file that carries no ids may have them beside
            it, in ``documents.ids``. Or a table of texts with their vectors, and with those of the titles that ask.
        task: Says which vectors are needed, and their order.
        verify: Whether stores are compared with the digests they were written with, at a second for each gigabyte.
        data: Where the task was read from, for the command that an error tells.

    Returns:
        The vectors; a ``.npy`` file in the task's order stays on disk and is read from the map.

    Raises:
        DataError: A side has no vectors, several files of them, or damaged ones.
        VectorError: A file cannot be read, a vector is missing, the widths differ, or a number is not finite.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> import offsphere as osp
        >>> folder = Path(tempfile.mkdtemp())
        >>> task = osp.RankingTask.from_judgments({"q1": {"d2": 1}}, ["d1", "d2"])
        >>> np.save(folder / "queries.npy", np.ones((1, 3), np.float32))
        >>> np.savez(folder / "documents.npz", vectors=np.arange(6.0).reshape(2, 3), ids=np.array(["d2", "d1"]))
        >>> osp.load_vectors(folder, task).documents.tolist()
        [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]]
    """
    if not isinstance(folder, str | Path):
        raise ParameterError("load_vectors(folder, task): the folder comes first here, as in all that reads files")
    path = given_path(folder)
    if not path.is_dir() and EmbeddedTable.of(path) is None:
        raise DataError(f"{path} is not a folder of vectors")
    asking, asked = task.sides

    def read(side: TaskSide) -> VectorFile:
        file = open_side(path, side, verify=verify)
        return file if side.ids is None else _in_order(file, side, _cure(file, task, path, data))

    if asking.made_from_other is not None and find_side(path, asking) is None:
        known = read(asked)
        return task.vectors(asking.made_from_other(known.vectors), known.vectors, (None, known.tokens))
    first, second = read(asking), read(asked)
    return task.vectors(first.vectors, second.vectors, (first.tokens, second.tokens))


def open_side(folder: Path, side: TaskSide, *, verify: bool, lazy: bool = False, with_ids: bool = True) -> VectorFile:
    """Open the vectors of the side's split, else those of the whole side; or of a table that has texts beside them.

    Args:
        folder: Has a file, a store or parts of the side's name, or is a table.
        side: Of a task.
        verify: Whether a store is compared with its digests.
        lazy: Whether rows that cannot be mapped are read only where they are asked for.
        with_ids: Whether ids are read; without them nobody knows yet which vector is whose.

    Raises:
        DataError: There are none, several files of them, or damaged ones.
        VectorError: A file cannot be read.
    """
    table = EmbeddedTable.of(folder)
    if table is not None:
        return table.vectors(side.name, with_ids=with_ids)
    path = find_side(folder, side)
    if path is None:
        name = side.stored_as
        raise DataError(
            f"{folder} has no {name} vectors (a store, {name}.npy, .npz, .parquet or .safetensors, or a folder {name} "
            "of such parts): make some with offsphere embed DATA --out DIR, and say where they are with --vectors DIR"
        )
    return read_vectors(path, verify=verify, expected=side.ids, lazy=lazy, with_ids=with_ids)


def find_side(folder: Path, side: TaskSide) -> Path | None:
    """Where a folder has the vectors of one side of a task; nothing where it has none."""
    return find_file(folder, side.stored_as) or find_file(folder, side.plural)


def _cure(file: VectorFile, task: Task, folder: Path, data: str) -> str:
    """What makes vectors that are missing: the command for a store, whose model is known, else what to add."""
    if not is_store(file.path):
        return f"add them to {file.path.name}, or make all of them with offsphere embed {data} --out ANOTHER_DIR"
    split = f" --split {task.split}" if task.split is not None else ""
    return f"offsphere embed {data}{split} --model {read_manifest(file.path).model} --out {folder}"


def _in_order(file: VectorFile, side: TaskSide, cure: str) -> VectorFile:
    """The rows of a side's ids. A file without ids is in the order of these or of all listed ones."""
    chosen = chosen_rows(file, side, cure)
    if chosen is None:
        return file  # stays on disk where it is a map
    tokens = file.tokens[chosen] if file.tokens is not None else None
    run = as_range(chosen)
    where = str(file.path)
    rows = pick_rows(file.vectors, chosen, where) if run is None else cut_rows(file.vectors, run.start, run.stop)
    return VectorFile(file.path, rows, side.ids, tokens)


def chosen_rows(file: VectorFile, side: TaskSide, cure: str) -> list[int] | None:
    """The rows of a file that have the ids of a side; nothing where all of them do, in order.

    Args:
        file: With its ids, where it has any.
        side: With its ids.
        cure: What to do about vectors that are missing.

    Raises:
        VectorError: One is missing, an id repeats, or nothing says which vector is whose.
    """
    naming = f"add {file.path.with_suffix('.ids').name} with one id a line"
    return rows_in_order(file.ids, len(file.vectors), side, str(file.path), cure=cure, naming=naming)


def as_range(rows: Sequence[int]) -> range | None:
    """Rows that stand one below the other as a range; nothing where they do not."""
    first = rows[0] if len(rows) else 0
    run = range(first, first + len(rows))
    return run if rows == run or list(rows) == list(run) else None


def rows_in_order(
    ids: Sequence[str] | None, count: int, side: TaskSide, where: str, *, cure: str, naming: str
) -> list[int] | None:
    """Find the vectors of a side's ids.

    Args:
        ids: Of the vectors; without them, these are in the order of the side's ids or of all that the data lists.
        count: How many vectors there are.
        side: Whose ids are wanted.
        where: Where the vectors are, for errors.
        cure: What to do about vectors that are missing.
        naming: What to do about vectors that have no ids and are not as many.

    Returns:
        Their rows; nothing where all vectors are wanted, in the order in which they stand.

    Raises:
        VectorError: One is missing, an id repeats, or nothing says which vector is whose.
    """
    wanted, listed, kind = side.ids or (), side.listed or side.ids or (), side.name
    if ids is None:
        if count == len(wanted):
            return None
        if count != len(listed):
            raise VectorError(
                f"{where} has {count} vectors and no ids, the task has {len(listed)} {kind} ids: {naming}"
            )
        ids = listed
    if same_ids(ids, wanted):
        return None
    rows = {name: row for row, name in enumerate(ids)}
    if len(rows) < len(ids):
        name, times = Counter(ids).most_common(1)[0]
        raise VectorError(f"{where}: {kind} id {name!r} stands there {times} times: ids must not repeat")
    missing = [name for name in wanted if name not in rows]
    if missing:
        none = (
            f" has no id of the task's {len(wanted)} {kind} ids: there is {shown_id(ids[0])!r}, and in the data "
            f"{shown_id(wanted[0])!r}: {naming} if these are the same; it"
        )
        raise VectorError(
            f"{where}{none if len(missing) == len(wanted) else ''} has no vector for {kind} {missing[0]!r} "
            f"({len(missing)} are missing): {cure}"
        )
    return [rows[name] for name in wanted]


def pick_rows(vectors: Vectors, rows: list[int], where: str) -> Vectors:
    """Some vectors in another order: in memory where they are few, else in a file that is mapped."""
    pieces = (vectors[rows[start : start + BLOCK]] for start in range(0, len(rows), BLOCK))
    return gather_rows(pieces, (len(rows), vectors.shape[1]), vectors.dtype, where)


def read_side(folder: Path, side: TaskSide, cure: str, *, verify: bool = True) -> VectorFile:
    """Read the vectors of one side of a task from a folder, in the task's order.

    Args:
        folder: Has a file or store of the side's name.
        side: Of the task.
        cure: What to do about vectors that are missing.
        verify: Whether a store is compared with its digests.

    Raises:
        DataError: There are none, several files of them, or damaged ones.
        VectorError: A file cannot be read, or a vector is missing.
    """
    file = open_side(folder, side, verify=verify)
    return file if side.ids is None else _in_order(file, side, cure)


def _check_shapes(first: Vectors, second: Vectors, first_name: str, second_name: str) -> None:
    for vectors, name in ((first, first_name), (second, second_name)):
        if vectors.ndim != 2:  # noqa: PLR2004
            raise VectorError(f"{name} vectors have shape {vectors.shape}: give a row a vector, (rows, dimensions)")
        if not vectors.shape[1]:
            raise VectorError(f"{name} vectors have no dimensions: every vector needs at least one number")


def _empty_names(vectors: Vectors, ids: Sequence[str], kind: str) -> list[str]:
    """The names of the vectors that have length zero; an error for the first that is not finite."""
    empty = rows_without_length(vectors, kind, lambda row: f"{ids[row]!r} (row {row})")
    return [f"{kind} {ids[row]!r}" for row in empty]


def _pick_tokens(tokens: Counts | None, rows: Index) -> Counts | None:
    return tokens[rows] if tokens is not None else None
