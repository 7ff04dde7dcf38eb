"""sqlite-vec: a table vec0 in a file of SQLite, every row compared; it has cosine and distance, no inner product."""

# ruff: noqa: S608  # names are quoted, and values are parameters

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Rows
from offsphere.base.errors import DataError, OffsphereError, VectorError
from offsphere.base.extras import missing_extra
from offsphere.base.spilled import gather_rows
from offsphere.data.vector_files import id_texts
from offsphere.engines.collection import CollectionFacts, Hits, Layout, NamedRows
from offsphere.engines.columns import id_column, vector_column
from offsphere.engines.database_file import DatabaseFileCollection, quoted
from offsphere.engines.engine import BATCH, Engine
from offsphere.engines.first_pass import candidates
from offsphere.engines.metric import Metric, MetricFacts, ScoreFormula
from offsphere.engines.python_text import python_text

ID, VECTOR = "id", "vector"
WORDS = {Metric.COSINE: "cosine", Metric.EUCLIDEAN: "l2"}
LARGEST_K = 4_096
HELD = 8_192  # dimensions
MILLISECONDS = 10_000  # that another writer is waited for
BITS = "bits"  # the column by which candidates are found, where they are found so
RANKS = {"cosine": "vec_distance_cosine", "l2": "vec_distance_l2"}  # what ranks them
MARKS = "offsphere_unfinished"  # a table with the names of those that are being filled
NUMBERS = {"float": np.float32, "f32": np.float32, "float32": np.float32, "int8": np.int8, "i8": np.int8}
_COLUMN = re.compile(
    r"(\w+)\s+(float|f32|float32|int8|i8|bit)\s*\[\s*(\d+)\s*\](?:\s+distance_metric\s*=\s*(\w+))?", re.IGNORECASE
)
_KEY = re.compile(r"(\w+)\s+(?:text|integer)\s+primary\s+key", re.IGNORECASE)


class VectorColumn(NamedTuple):
    """A column of vectors: what its numbers are, how many, and the word of its metric."""

    kind: str
    dimension: int
    metric: str


class SqliteCollection(DatabaseFileCollection):
    """A table of sqlite-vec. While it is filled its name stands in a table of marks; each batch is a transaction."""

    database = "SQLite"
    stored_forms = ("float32", "binary")

    def facts(self) -> CollectionFacts | None:
        """What the statement that made the table says."""
        if not self.there():
            return None
        with self.reading() as connection:
            made = self._made_by(connection)
            if made is None:
                return None
            columns = _vector_columns(made)
            chosen = columns[vector_column(list(columns), self.vector_name, VECTOR, repr(self))]
            rows = connection.execute(f"SELECT count(*) FROM {self.table}").fetchone()[0]
            metric = {word: metric for metric, word in WORDS.items()}.get(chosen.metric)
            other = chosen.metric if metric is None else ""
            stored = f"{chosen.kind} and bits" if BITS in columns else chosen.kind
            return CollectionFacts(
                chosen.dimension,
                metric,
                rows,
                "no index: every row is compared",
                stored,
                unfinished=self._marked(),
                other_metric=other,
            )

    def check(self, layout: Layout, ids: Sequence[str]) -> None:  # noqa: ARG002
        """Refuse dimensions that a column has no room for, or that are no whole bytes of bits."""
        if layout.dimension > HELD:
            raise OffsphereError(f"{layout.dimension:,} dimensions: sqlite-vec has room for {HELD:,} in a column")
        if layout.stored == "binary" and layout.dimension % 8:
            raise OffsphereError(
                f"{layout.dimension:,} dimensions: sqlite-vec stores bits by the byte, so that 8 must divide them"
            )

    def create(self, layout: Layout) -> None:
        """Make an empty table and mark it, and the file where there is none."""
        names, column = self.id_field or ID, self.vector_name or VECTOR
        for word in (names, column):
            if not re.fullmatch(r"[A-Za-z]\w*", word):
                raise OffsphereError(f"{word!r} cannot name a column of sqlite-vec: take letters, digits and _")
        with self.writing() as connection:
            vectors = f"{column} float[{layout.dimension}] distance_metric={WORDS[layout.metric]}"
            bits = f", {BITS} bit[{layout.dimension}]" if layout.stored == "binary" else ""
            columns = f"{names} text primary key, {vectors}{bits}"
            connection.execute(f"CREATE VIRTUAL TABLE {self.table} USING vec0({columns})")
            connection.execute(f"CREATE TABLE IF NOT EXISTS {MARKS} (name TEXT PRIMARY KEY)")
            connection.execute(f"INSERT INTO {MARKS} VALUES (?)", [self.name])

    def add(self, ids: Sequence[str], rows: Rows) -> None:
        """Insert one batch; it is there as a whole, or not at all."""
        content = np.ascontiguousarray(rows, np.float32)
        columns = f"{quoted(self.id_field or ID)}, {quoted(self.vector_name or VECTOR)}"
        with self.writing() as connection:
            by_bits = BITS in _vector_columns(self._made_by(connection) or "")
            columns, values = (f"{columns}, {BITS}", ", vec_quantize_binary(?2)") if by_bits else (columns, "")
            connection.executemany(
                f"INSERT INTO {self.table} ({columns}) VALUES (?1, ?2{values})",
                ((name, row.tobytes()) for name, row in zip(ids, content, strict=True)),
            )

    def discard(self, ids: Sequence[str]) -> None:
        """Delete the rows of these ids."""
        with self.writing() as connection:
            text = f"DELETE FROM {self.table} WHERE {quoted(self.id_field or ID)} = ?"
            connection.executemany(text, ([name] for name in ids))

    def finish(self) -> None:
        """Remove the mark: there is no index to build."""
        with self.writing():
            self._unmark()

    def search(self, queries: Rows, k: int, effort: int | None = None) -> Hits:
        """Ask with one query after the other; every row is compared, by its bits first where it has some."""
        ids, scores = [], []
        with self.reading() as connection:
            column, names, made = self._columns(connection)
            columns = _vector_columns(made)
            number = columns[column]
            if NUMBERS.get(number.kind) is not np.float32:
                raise OffsphereError(f"{self!r} holds {number.kind}, not float: only such a table is asked")
            looked = candidates(k, effort) if BITS in columns else None
            text = _question(self.table, names, quoted(column), k, (number.metric, looked) if looked else None)
            for query in np.ascontiguousarray(queries, np.float32):
                answer = connection.execute(text, [query.tobytes()]).fetchall()
                ids.append([str(name) for name, _ in answer])
                scores.append(np.array([score for _, score in answer], np.float64))
        return Hits(ids, scores)

    def read(self) -> NamedRows:
        """Read ids and vectors in the order in which they were added."""
        with self.reading() as connection:
            column, names, made = self._columns(connection)
            form = _vector_columns(made)[column]
            if form.kind not in NUMBERS:
                raise DataError(f"{self!r} holds bits: import from where the vectors came from")
            rows = connection.execute(f"SELECT count(*) FROM {self.table}").fetchone()[0]
            ids: list[Any] = []
            cells = connection.execute(f"SELECT {names}, {quoted(column)} FROM {self.table}")
            blocks = _blocks(cells, ids, form, repr(self))
            vectors = gather_rows(blocks, (rows, form.dimension), np.float32, repr(self))
            return NamedRows(vectors, id_texts(ids, repr(self)))

    def remove(self) -> None:
        """Drop the table; a file that was made for it, and holds nothing else, goes too."""
        if not self.there():
            return
        with self.writing() as connection:
            connection.execute(f"DROP TABLE IF EXISTS {self.table}")
            self._unmark()
            others = "SELECT count(*) FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
            tables = connection.execute(others).fetchone()[0]
        self.remove_file_if_empty(tables=tables)

    def snippet(self, layout: Layout, k: int, effort: int | None = None) -> str:
        """Open the file, load the extension, and ask for the nearest."""
        names, column = quoted(self.id_field or ID), quoted(self.vector_name or VECTOR)
        by_bits = (WORDS[layout.metric], candidates(k, effort)) if layout.stored == "binary" else None
        text = _question(self.table, names, column, k, by_bits)
        return "\n".join(
            [
                "import apsw, sqlite_vec",
                f"connection = apsw.Connection({python_text(self.path)})",
                "connection.enable_load_extension(True)",
                "connection.load_extension(sqlite_vec.loadable_path())",
                f"sql = {python_text(text)}",
                "hits = connection.execute(sql, [query.tobytes()]).fetchall()",
            ]
        )

    def connect(self, *, writable: bool) -> Any:
        """Open the file with the extension; one whose writer was killed is first put right by SQLite itself."""
        try:
            import apsw
            import sqlite_vec
        except ImportError as error:
            raise missing_extra(error) or error from error
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE if writable else apsw.SQLITE_OPEN_READONLY
        connection = apsw.Connection(str(self.path), flags=flags)
        connection.set_busy_timeout(MILLISECONDS)
        connection.enable_load_extension(True)  # noqa: FBT003
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)  # noqa: FBT003
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except (apsw.ReadOnlyError, apsw.CantOpenError):
            connection.close()
            if writable:
                raise
            return self.connect(writable=True)  # half a transaction has to be undone before anybody can read
        return connection

    def transaction(self) -> AbstractContextManager[Any]:
        """Commit, or roll back: what a connection of apsw does itself."""
        connection: AbstractContextManager[Any] = self.connection
        return connection

    def _made_by(self, connection: Any) -> str | None:
        """The statement that made the table; nothing where there is no such table.

        Raises:
            DataError: It is a table of another kind.
        """
        text = "SELECT sql FROM sqlite_master WHERE type = 'table' AND lower(name) = lower(?)"
        row = connection.execute(text, [self.name]).fetchone()
        if row is None:
            return None
        if not re.search(r"(?i)\busing\s+vec0\b", row[0]):
            raise DataError(f"{self!r} is no table of sqlite-vec: it was not made by USING vec0")
        return str(row[0])

    def _columns(self, connection: Any) -> tuple[str, str, str]:
        """The names of the columns of vectors and of ids, and the statement that made the table."""
        made = self._made_by(connection)
        if made is None:
            raise DataError(f"there is no {self!r}")
        column = vector_column(list(_vector_columns(made)), self.vector_name, VECTOR, repr(self))
        information = connection.execute(f"PRAGMA table_info({self.table})").fetchall()
        others = [row[1] for row in information if row[1] not in (column, "distance", "k", self.name)]
        keys = _KEY.findall(made)
        names = id_column(others, self.id_field, keys, repr(self))
        return column, quoted(names) if names is not None else "rowid", made

    def _marked(self) -> bool:
        """Whether the table is being filled."""
        connection = self.connection
        there = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = ?", [MARKS]).fetchone()[0]
        return bool(there) and bool(
            connection.execute(f"SELECT count(*) FROM {MARKS} WHERE name = ?", [self.name]).fetchone()[0]
        )

    def _unmark(self) -> None:
        """Take the name out of the table of marks, which goes when it is empty."""
        if self._marked():
            self.connection.execute(f"DELETE FROM {MARKS} WHERE name = ?", [self.name])
            if not self.connection.execute(f"SELECT count(*) FROM {MARKS}").fetchone()[0]:
                self.connection.execute(f"DROP TABLE {MARKS}")


def _question(table: str, names: str, column: str, k: int, by_bits: tuple[str, int] | None) -> str:
    """The SQL that asks for the k best; ``by_bits`` is the metric's word, and how many candidates the bits find."""
    if by_bits is None:
        return f"SELECT {names}, distance FROM {table} WHERE {column} MATCH ?1 AND k = {k} ORDER BY distance"
    metric, looked = by_bits
    near = f"{BITS} MATCH vec_quantize_binary(?1) AND k = {min(looked, LARGEST_K)}"
    return (
        f"SELECT {names}, {RANKS[metric]}({column}, ?1) AS score FROM "
        f"(SELECT {names}, {column} FROM {table} WHERE {near}) ORDER BY score LIMIT {k}"
    )


def _vector_columns(made: str) -> dict[str, VectorColumn]:
    """The columns of vectors that a statement makes."""
    return {
        name: VectorColumn(kind.lower(), int(size), (metric or "l2").lower())
        for name, kind, size, metric in _COLUMN.findall(made)
    }


def _blocks(cells: Any, ids: list[Any], form: VectorColumn, where: str) -> Iterator[NDArray[Any]]:
    """The vectors, so many rows at a time; their ids are added to the list."""
    numbers = np.dtype(NUMBERS[form.kind])
    while rows := list(islice(cells, BATCH)):
        for name, value in rows:
            if value is None or len(value) != form.dimension * numbers.itemsize:
                raise VectorError(f"{where}: the row {name!r} has no vector of {form.dimension} dimensions")
        ids += [name for name, _ in rows]
        yield np.frombuffer(b"".join(value for _, value in rows), numbers).reshape(len(rows), -1)


SQLITE = Engine(
    name="sqlite-vec",
    metrics=MappingProxyType(
        {
            Metric.COSINE: MetricFacts("vec0(vector float[n] distance_metric=cosine)", ScoreFormula(-1, 1.0)),
            Metric.EUCLIDEAN: MetricFacts("vec0(vector float[n] distance_metric=l2)", ScoreFormula()),
        }
    ),
    prefix="sqlite",
    location="FILE:TABLE",
    open=SqliteCollection,
    largest_k=LARGEST_K,
    notes=(
        "It has no inner product: one more coordinate makes it the order of distances, and every row is compared.",
        "A column without distance_metric is one for l2.",
        "A query gets at most 4,096 documents.",
        "By cosine a vector of zeros comes first: its distance is NULL.",
    ),
)
