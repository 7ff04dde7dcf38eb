"""DuckDB: a table with a column ``FLOAT[n]``, every row compared by core functions, or a graph by the extension vss."""

# ruff: noqa: S608  # names are quoted, and values are parameters

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from offsphere.base.arrays import Index, Rows
from offsphere.base.errors import OffsphereError
from offsphere.base.extras import load_extra
from offsphere.base.files import whole_file
from offsphere.base.reading.file_access import open_file
from offsphere.data.list_columns import BLOCK, gather_lists
from offsphere.data.vector_files import id_texts
from offsphere.engines.collection import CollectionFacts, Hits, Layout, NamedRows, NoMetricError
from offsphere.engines.columns import id_column, vector_column
from offsphere.engines.database_file import DatabaseFileCollection, quoted
from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric, MetricFacts, ScoreFormula
from offsphere.engines.python_text import python_text
from offsphere.engines.table_note import TableNote

ID, VECTOR = "id", "vector"
FUNCTIONS = {
    Metric.COSINE: "array_cosine_distance",
    Metric.INNER_PRODUCT: "array_negative_inner_product",
    Metric.EUCLIDEAN: "array_distance",
}
WORDS = {Metric.COSINE: "cosine", Metric.INNER_PRODUCT: "ip", Metric.EUCLIDEAN: "l2sq"}  # of the graph
_VECTORS = re.compile(r"(FLOAT|DOUBLE)\[(\d*)\]")
_TABLE = "database_name = current_database() AND schema_name = 'main' AND lower(table_name) = lower(?)"
_GRAPH = "sql ILIKE '%USING HNSW%'"


class DuckCollection(DatabaseFileCollection):
    """A table in a file of DuckDB. While it is filled its comment says so; each batch is a transaction."""

    index_kinds = ("exact", "graph")

    database = "DuckDB"

    def facts(self) -> CollectionFacts | None:
        """What the catalogue says of the table."""
        if not self.there():
            return None
        with self.reading() as connection:
            columns = self._columns(connection)
            if not columns:
                return None
            column = self._vector_column(columns)
            width = _VECTORS.fullmatch(columns[column])
            assert width is not None
            dimension = int(width[2]) if width[2] else self._first_width(connection, column)
            rows = connection.execute(f"SELECT count(*) FROM {self.table}").fetchone()[0]
            note, graph = self._note(connection), self._has_graph(connection)
            return CollectionFacts(
                dimension,
                note.metric if note is not None else self._graph_metric(connection) if graph else None,
                rows,
                "HNSW" if graph else "no index: every row is compared",
                columns[column],
                unfinished=note is not None and note.unfinished,
                as_given=note is None or note.as_given,
            )

    def check(self, layout: Layout, ids: Sequence[str]) -> None:  # noqa: ARG002
        """Refuse a graph without the extension that has it."""
        if layout.index == "graph":
            extension_path()

    def create(self, layout: Layout) -> None:
        """Make an empty table with a comment that says what it is for, and the file where there is none."""
        with self.writing() as connection:
            names = f"{quoted(self.id_field or ID)} VARCHAR, {quoted(self.vector_name or VECTOR)}"
            connection.execute(f"CREATE TABLE {self.table} ({names} FLOAT[{layout.dimension}])")
            self._write_note(TableNote.made_for(layout))

    def add(self, ids: Sequence[str], rows: Rows) -> None:
        """Insert one Arrow table; it is there as a whole, or not at all."""
        import pyarrow as pa

        numbers = np.ascontiguousarray(rows, np.float32)
        lists = pa.FixedSizeListArray.from_arrays(pa.array(numbers.ravel()), rows.shape[1])
        table = pa.table({"id": pa.array(ids, pa.string()), "vector": lists})
        with self.writing() as connection, _registered(connection, table) as batch:
            connection.execute(f"INSERT INTO {self.table} SELECT id, vector FROM {batch}")

    def discard(self, ids: Sequence[str]) -> None:
        """Delete the rows of these ids."""
        import pyarrow as pa

        table, column = pa.table({"id": pa.array(ids, pa.string())}), quoted(self.id_field or ID)
        with self.writing() as connection, _registered(connection, table) as batch:
            connection.execute(f"DELETE FROM {self.table} WHERE {column} IN (SELECT id FROM {batch})")

    def finish(self) -> None:
        """Build the graph, if there is to be one, and write everything from the log into the file."""
        with self.writing() as connection:
            note = self._note(connection)
        if note is not None and note.unfinished:
            with self.working():
                if note.index == "graph":
                    self._build_graph(note.metric)
            with self.writing():
                self._write_note(note.finished())
        with self.working():
            self.connection.execute("CHECKPOINT")

    def search(self, queries: Rows, k: int, effort: int | None = None) -> Hits:
        """Ask with one query after the other; a graph looks at k candidates or more."""
        return self._asked(queries, k, f"SET hnsw_ef_search = {max(k, effort or 64)}")

    def bare_search(self, queries: Rows, k: int) -> Hits:
        """Ask with as many candidates as the extension looks at by itself."""
        return self._asked(queries, k, "RESET hnsw_ef_search")

    def _asked(self, queries: Rows, k: int, setting: str) -> Hits:
        """The answers, a graph's after a setting."""
        facts = self.facts()
        if facts is None or facts.metric is None:
            raise NoMetricError(f"{self!r} was made for no metric: each query chooses one")
        ids, scores = [], []
        with self.reading() as connection:
            columns = self._columns(connection)
            column = self._vector_column(columns)
            names = self._id_column(connection, columns, column)
            if self._has_graph(connection):
                _load_graphs(connection)
                connection.execute(setting)
            shown = quoted(names) if names is not None else "rowid"
            row_ids = self._row_ids(connection) if names is None else None
            distance = f"{FUNCTIONS[facts.metric]}({quoted(column)}, ?::{columns[column]})"
            query = f"SELECT {shown}, {distance} AS score FROM {self.table} ORDER BY score LIMIT {k}"
            for row in np.asarray(queries, np.float32).tolist():
                answer = connection.execute(query, [row]).fetchall()
                found = [name for name, _ in answer]
                ids.append([str(name) for name in (found if row_ids is None else np.searchsorted(row_ids, found))])
                scores.append(np.array([score for _, score in answer], np.float64))
        return Hits(ids, scores)

    def read(self) -> NamedRows:
        """Read the column of vectors and, where there is one, that of ids, in the order of the table."""
        with self.reading() as connection:
            columns = self._columns(connection)
            column = self._vector_column(columns)
            names = self._id_column(connection, columns, column)
            rows = connection.execute(f"SELECT count(*) FROM {self.table}").fetchone()[0]
            kind = self._cells(connection, column, 1).schema.field(0).type
            vectors = gather_lists(
                kind,
                rows,
                lambda size: (batch.column(0) for batch in self._cells(connection, column, size)),
                repr(self),
            )
            if names is None:
                return NamedRows(vectors, None)
            cells = self._cells(connection, names, BLOCK)
            return NamedRows(vectors, id_texts([name for batch in cells for name in batch[0].to_pylist()], repr(self)))

    def remove(self) -> None:
        """Drop the table; a file that was made for it, and holds nothing else, goes too."""
        if not self.there():
            return
        with self.writing() as connection:
            connection.execute(f"DROP TABLE IF EXISTS {self.table}")
        with self.working():
            tables = self.connection.execute("SELECT count(*) FROM duckdb_tables()").fetchone()[0]
            self.connection.execute("CHECKPOINT")
        self.remove_file_if_empty(tables=tables)

    def snippet(self, layout: Layout, k: int, effort: int | None = None) -> str:
        """Open the file, and order by the function of the metric."""
        lines = ["import duckdb", f"connection = duckdb.connect({python_text(self.path)}, read_only=True)"]
        if layout.index == "graph":
            lines += [
                f'connection.execute("{_load_words()}")',
                f'connection.execute("SET hnsw_ef_search = {max(k, effort or 64)}")',
            ]
        names, column = quoted(self.id_field or ID), quoted(self.vector_name or VECTOR)
        width = layout.dimension or "{len(query)}"  # where nobody knows it yet, the query says
        distance = f"{FUNCTIONS[layout.metric]}({column}, ?::FLOAT[{width}])"
        query = f"SELECT {names}, {distance} AS score FROM {self.table} ORDER BY score LIMIT {k}"
        lines += [
            f"sql = {'' if layout.dimension else 'f'}{python_text(query)}",
            "hits = connection.execute(sql, [query.tolist()]).fetchall()",
        ]
        return "\n".join(lines)

    def _build_graph(self, metric: Metric) -> None:
        """Index the vectors; one that a kill left is built anew."""
        _load_graphs(self.connection)
        self.connection.execute("SET hnsw_enable_experimental_persistence = true")
        index, column = quoted(f"{self.name}_hnsw"), quoted(self.vector_name or VECTOR)
        self.connection.execute(f"DROP INDEX IF EXISTS {index}")
        self.connection.execute(
            f"CREATE INDEX {index} ON {self.table} USING HNSW ({column}) WITH (metric = '{WORDS[metric]}')"
        )

    def connect(self, *, writable: bool) -> Any:
        """Open the file; DuckDB itself keeps a second writer out, and writes no file whose graphs it does not know."""
        if writable and not self.path.exists():
            _make_database(self.path)
        connection = load_extra("duckdb").connect(str(self.path), read_only=not writable, config=dict(OFFLINE))
        if writable and connection.execute(f"SELECT count(*) FROM duckdb_indexes() WHERE {_GRAPH}").fetchone()[0]:
            _load_graphs(connection)
        return connection

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Begin and commit, or roll back."""
        self.connection.execute("BEGIN")
        try:
            yield
        except BaseException:
            with suppress(Exception):  # what went wrong says more
                self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    def _columns(self, connection: Any) -> dict[str, str]:
        """The types of the columns; none where there is no such table."""
        text = f"SELECT column_name, data_type FROM duckdb_columns() WHERE {_TABLE} ORDER BY column_index"
        return dict(connection.execute(text, [self.name]).fetchall())

    def _note(self, connection: Any) -> TableNote | None:
        row = connection.execute(f"SELECT comment FROM duckdb_tables() WHERE {_TABLE}", [self.name]).fetchone()
        return TableNote.of(row[0]) if row is not None else None

    def _write_note(self, note: TableNote) -> None:
        self.connection.execute(f"COMMENT ON TABLE {self.table} IS '{note}'")

    def _has_graph(self, connection: Any) -> bool:
        text = f"SELECT count(*) FROM duckdb_indexes() WHERE {_TABLE} AND {_GRAPH}"
        return bool(connection.execute(text, [self.name]).fetchone()[0])

    def _graph_metric(self, connection: Any) -> Metric | None:
        """The metric of a graph that somebody else built; nothing where it cannot be asked."""
        try:
            _load_graphs(connection)
        except OffsphereError:
            return None
        text = "SELECT DISTINCT metric FROM pragma_hnsw_index_info() WHERE lower(table_name) = lower(?)"
        words = {word for (word,) in connection.execute(text, [self.name]).fetchall()}
        return {word: metric for metric, word in WORDS.items()}.get(words.pop()) if len(words) == 1 else None

    def _vector_column(self, columns: dict[str, str]) -> str:
        candidates = [name for name, kind in columns.items() if _VECTORS.fullmatch(kind)]
        return vector_column(candidates, self.vector_name, VECTOR, repr(self))

    def _id_column(self, connection: Any, columns: dict[str, str], vectors: str) -> str | None:
        text = (
            f"SELECT constraint_column_names FROM duckdb_constraints() WHERE {_TABLE} AND constraint_type LIKE 'PRI%'"
        )
        keys = [name for (names,) in connection.execute(text, [self.name]).fetchall() for name in names]
        return id_column([name for name in columns if name != vectors], self.id_field, keys, repr(self))

    def _row_ids(self, connection: Any) -> Index:
        """DuckDB's own numbers of the rows, in their order: they rise, and deleted ones are left out."""
        numbers = connection.execute(f"SELECT rowid FROM {self.table}").fetchnumpy()["rowid"]
        return np.asarray(numbers, np.int64)

    def _first_width(self, connection: Any, column: str) -> int:
        """How many numbers the first vector has, where lists may be of any length."""
        row = connection.execute(f"SELECT len({quoted(column)}) FROM {self.table} LIMIT 1").fetchone()
        return int(row[0] or 0) if row is not None else 0

    def _cells(self, connection: Any, column: str, rows: int) -> Any:
        """A column as a stream of Arrow batches."""
        answer = connection.cursor().execute(f"SELECT {quoted(column)} FROM {self.table}")
        return answer.fetch_record_batch(rows)


def extension_path() -> Path | None:
    """The extension vss as the package duckdb-extension-vss brings it; nothing where DuckDB has it installed itself.

    Raises:
        OffsphereError: It is nowhere on this machine; nothing is downloaded.
    """
    duckdb = load_extra("duckdb")
    packaged = find_spec("duckdb_extension_vss")
    if packaged is not None and packaged.origin is not None:
        path = Path(packaged.origin).parent / "extensions" / f"v{duckdb.__version__}" / "vss.duckdb_extension"
        if path.is_file():
            return path
    with duckdb.connect(config=dict(OFFLINE)) as connection:
        text = "SELECT installed FROM duckdb_extensions() WHERE extension_name = 'vss'"
        if (connection.execute(text).fetchone() or (False,))[0]:
            return None
    raise OffsphereError(
        f"a graph in DuckDB needs its extension vss: pip install duckdb-extension-vss=={duckdb.__version__}, or run "
        "INSTALL vss in DuckDB"
    )


OFFLINE = MappingProxyType({"autoinstall_known_extensions": "false"})  # else DuckDB downloads what a query mentions


def _make_database(path: Path) -> None:
    """Let an empty database appear as a whole: half of one, left by a kill or a full disk, nobody could open again."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "empty.duckdb"
        load_extra("duckdb").connect(str(made), config=dict(OFFLINE)).close()
        with open_file(made) as source, whole_file(path) as stream:
            shutil.copyfileobj(source, stream)


@contextmanager
def _registered(connection: Any, table: Any) -> Iterator[str]:
    """Let queries see an Arrow table under a name that no table has."""
    connection.register("offsphere_batch", table)
    try:
        yield "offsphere_batch"
    finally:
        connection.unregister("offsphere_batch")


def _load_words() -> str:
    """What loads the extension."""
    path = extension_path()
    return "LOAD vss" if path is None else f"LOAD '{str(path).replace(chr(39), chr(39) * 2)}'"


def _load_graphs(connection: Any) -> None:
    connection.execute(_load_words())


DUCKDB = Engine(
    name="DuckDB",
    metrics=MappingProxyType(
        {
            Metric.COSINE: MetricFacts("ORDER BY array_cosine_distance(vector, query)", ScoreFormula(-1, 1.0)),
            Metric.INNER_PRODUCT: MetricFacts("ORDER BY array_negative_inner_product(vector, query)", ScoreFormula(-1)),
            Metric.EUCLIDEAN: MetricFacts("ORDER BY array_distance(vector, query)", ScoreFormula()),
        }
    ),
    prefix="duckdb",
    location="FILE:TABLE",
    open=DuckCollection,
    notes=(
        "The graph is of an extension, vss, which INSTALL downloads; the package duckdb-extension-vss brings it.",
        "Only ORDER BY one of the three functions with a LIMIT goes by the graph; all else compares every row.",
        "Graphs in files are experimental, and held in memory as a whole.",
    ),
)
