"""Postgres with pgvector: a table with a column of vectors, every row compared, or indexed by graph (HNSW) or lists."""

# ruff: noqa: S608  # names are quoted, and values are parameters

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import sqrt
from types import MappingProxyType
from typing import Any

import numpy as np

from offsphere.base.arrays import Rows
from offsphere.base.errors import DataError, OffsphereError
from offsphere.base.extras import load_extra
from offsphere.base.passwords import HOW_TO_WRITE, hide_password, is_unclear, without_password
from offsphere.base.spilled import gather_rows
from offsphere.data.vector_files import id_texts
from offsphere.engines.collection import Collection, CollectionFacts, Hits, Layout, NamedRows, NoMetricError
from offsphere.engines.columns import id_column, vector_column
from offsphere.engines.databases import working_with
from offsphere.engines.engine import BATCH, Engine
from offsphere.engines.first_pass import candidates
from offsphere.engines.metric import Metric, MetricFacts, ScoreFormula
from offsphere.engines.postgres_format import NATIVE, copied_rows, encoded_ids, received_rows
from offsphere.engines.postgres_table import BITS, FAMILIES, PostgresTable, table_parts
from offsphere.engines.python_text import python_text
from offsphere.engines.table_note import TableNote
from offsphere.engines.target import Target

ID, VECTOR = "id", "embedding"
OPERATORS = {Metric.COSINE: "<=>", Metric.INNER_PRODUCT: "<#>", Metric.EUCLIDEAN: "<->"}
TYPES = {"float32": "vector", "float16": "halfvec", "binary": "vector"}  # bits are in the index
INDEXED = {"float32": 2_000, "float16": 4_000, "binary": 64_000}  # dimensions that an index can have
HELD = 16_000  # dimensions that a column can have
LARGEST_EFFORT = 1_000  # hnsw.ef_search has no more
ROWS_OF_A_LIST = 1_000
BY_INDEX = MappingProxyType({"enable_seqscan": "off", "enable_sort": "off"})  # however few rows there are
SECONDS = 10  # that a server is waited for


class PostgresCollection(Collection):
    """A table of Postgres. While it is filled its comment says so; each batch is a transaction."""

    index_kinds = ("exact", "graph", "lists")
    stored_forms = ("float32", "float16", "binary")
    largest_effort = LARGEST_EFFORT

    def __init__(self, where: Target, *, id_field: str | None = None, vector_name: str | None = None) -> None:
        self.where, self.parts = where, table_parts(where.name)
        self.id_field, self.vector_name = id_field, vector_name
        self._connection: Any = None

    def facts(self) -> CollectionFacts | None:
        """What the catalogue says of the table."""
        with self._reading() as connection:
            table = PostgresTable.of(connection, self.parts)
            if table is None:
                return None
            column = self._vector_column(table)
            kind, width = table.columns[column]
            if width < 0:
                width = self._first_width(connection, column)
            rows = connection.execute(self._sql("SELECT count(*) FROM {table}")).fetchone()[0]
            index, note = table.index_of(column), table.note
            words = f"{index.method} ({index.operators})" if index is not None else "no index: every row is compared"
            stored = f"{kind} and bits" if table.by_bits else kind
            metric, unfinished = table.metric_of(column), note is not None and note.unfinished
            other = index.operators if index is not None and metric is None else ""
            return CollectionFacts(
                width,
                metric,
                rows,
                words,
                stored,
                unfinished=unfinished,
                other_metric=other,
                as_given=note is None or note.as_given,
            )

    def check(self, layout: Layout, ids: Sequence[str]) -> None:
        """Refuse more dimensions than there is room for, and ids that Postgres cannot hold."""
        kind = TYPES[layout.stored]
        most = HELD if layout.index == "exact" else min(HELD, INDEXED[layout.stored])
        if layout.dimension > most:
            other = ": store float16, or take --index exact" if layout.index != "exact" else ""
            raise OffsphereError(
                f"{layout.dimension:,} dimensions: pgvector has room for {most:,} in "
                f"{'a column' if layout.index == 'exact' else f'an index of the type {kind}'}{other}"
            )
        encoded_ids(ids)

    def create(self, layout: Layout) -> None:
        """Make an empty table with a comment that says what it is for, and pgvector where the database lacks it."""
        with self._writing() as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            columns = f"({{id}} text NOT NULL, {{vector}} {TYPES[layout.stored]}({layout.dimension}) NOT NULL)"
            connection.execute(self._sql(f"CREATE TABLE {{table}} {columns}"))
            self._write_note(TableNote.made_for(layout))

    def add(self, ids: Sequence[str], rows: Rows) -> None:
        """Copy one batch in binary; it is there as a whole, or not at all."""
        with self._writing() as connection:
            kind = self._note(connection).stored
            numbers = rows.astype(np.float16) if kind == "float16" else rows
            copy = self._sql("COPY {table} ({id}, {vector}) FROM STDIN (FORMAT BINARY)")
            with connection.cursor() as cursor, cursor.copy(copy) as stream:
                for content in copied_rows(ids, numbers, TYPES[kind]):
                    stream.write(content)

    def discard(self, ids: Sequence[str]) -> None:
        """Remove these ids, when whatever the killed export was still doing in the server is over."""
        with self._writing() as connection:
            connection.execute(self._sql("LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE"))
            connection.execute(self._sql("DELETE FROM {table} WHERE {id} = ANY (%s)"), [list(ids)])

    def finish(self) -> None:
        """Make the ids the key, build the index and clear the comment: all in one transaction."""
        with self._writing() as connection:
            connection.execute(self._sql("LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE"))
            table = PostgresTable.of(connection, self.parts)
            if table is None or table.note is None or not table.note.unfinished:
                return
            note = table.note
            connection.execute(self._sql("ALTER TABLE {table} ADD PRIMARY KEY ({id})"))
            if note.index != "exact":
                family = next(word for word, metric in FAMILIES.items() if metric is note.metric)
                using = f"({{vector}} {TYPES[note.stored]}_{family}_ops)"
                if note.stored == "binary":
                    using = f"(({_bits(table.columns[self.vector_name or VECTOR][1])}) {BITS})"
                if note.index == "graph":
                    connection.execute(self._sql(f"CREATE INDEX ON {{table}} USING hnsw {using}"))
                else:
                    rows = connection.execute(self._sql("SELECT count(*) FROM {table}")).fetchone()[0]
                    lists = max(1, rows // ROWS_OF_A_LIST, int(sqrt(rows) / 2))
                    connection.execute(
                        self._sql(f"CREATE INDEX ON {{table}} USING ivfflat {using} WITH (lists={lists})")
                    )
            self._write_note(note.finished())
        if note.index != "exact":
            with self._working():
                self._connected().execute(self._sql("ANALYZE {table}"))  # else the planner may not see the index

    def search(self, queries: Rows, k: int, effort: int | None = None) -> Hits:
        """Ask with one query after the other; a graph looks at k candidates or more, so that it returns k."""
        return self._asked(queries, k, effort)

    def bare_search(self, queries: Rows, k: int) -> Hits:
        """Ask with pgvector's own settings, and by the index, also where Postgres would rather compare so few rows."""
        return self._asked(queries, k, None, bare=True)

    def _asked(self, queries: Rows, k: int, effort: int | None, *, bare: bool = False) -> Hits:
        ids, scores = [], []
        with self._reading() as connection:
            table = self._table(connection)
            column = self._vector_column(table)
            index, metric = table.index_of(column), table.metric_of(column)
            if metric is None:
                raise NoMetricError(f"{self!r} has no index of a metric that we know: each query chooses one")
            kind, width = table.columns[column]
            looked = candidates(k, effort) if table.by_bits else k
            method = index.method if index is not None else ""
            for name, value in (BY_INDEX if bare and method else _efforts(method, looked, effort)).items():
                connection.execute("SELECT set_config(%s, %s, true)", [name, value])
            text = _question(metric, kind, k, (width, looked) if table.by_bits else None)
            query = self._sql(text, id=self._id_column(table, column), vector=column)
            for row in np.asarray(queries, np.float32).tolist():
                answer = connection.execute(query, {"query": str(row)}, prepare=True).fetchall()
                ids.append([name for name, _ in answer])
                scores.append(np.array([score for _, score in answer], np.float64))
        return Hits(ids, scores)

    def read(self) -> NamedRows:
        """Read ids and vectors through a cursor of the server, in a transaction that cannot write."""
        with self._reading() as connection:
            table = self._table(connection)
            column = self._vector_column(table)
            kind, width = table.columns[column]
            width = width if width > 0 else self._first_width(connection, column)
            cells = self._sql(
                "SELECT {id}::text, {vector} FROM {table}", id=self._id_column(table, column), vector=column
            )
            rows = connection.execute(self._sql("SELECT count(*) FROM {table}")).fetchone()[0]
            connection.execute("SET LOCAL synchronize_seqscans = off")  # a scan begins with the first row
            ids: list[str] = []
            blocks = self._blocks(connection, cells, ids, (width, kind))
            return NamedRows(gather_rows(blocks, (rows, width), NATIVE[kind], repr(self)), ids)

    def remove(self) -> None:
        """Drop the table, if it is there."""
        with self._writing() as connection:
            connection.execute(self._sql("DROP TABLE IF EXISTS {table}"))

    def snippet(self, layout: Layout, k: int, effort: int | None = None) -> str:
        """Connect, and order by the operator of the metric."""
        dsn, lines = without_password(self.where.location), ["import psycopg"]
        if dsn != self.where.location:
            lines.append("# the password comes from PGPASSWORD, or from ~/.pgpass")
        lines.append(f"connection = psycopg.connect({python_text(dsn)})")
        method = {"exact": "", "graph": "hnsw", "lists": "ivfflat"}[layout.index]
        by_bits = layout.stored == "binary"
        looked = candidates(k, effort) if by_bits else k
        settings = _efforts(method, looked, effort)
        lines += [f"connection.execute(\"SET {name} = '{value}'\")" for name, value in settings.items()]
        text = _question(layout.metric, TYPES[layout.stored], k, (layout.dimension, looked) if by_bits else None)
        query = self._sql(text).as_string(None)
        lines += [
            f"sql = {python_text(query)}",
            'hits = connection.execute(sql, {"query": str(query.tolist())}).fetchall()',
        ]
        return "\n".join(lines)

    def close(self) -> None:
        """Close the connection to the server."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self) -> Any:
        if self._connection is None:
            psycopg = _package()
            try:
                known = psycopg.conninfo.conninfo_to_dict(self.where.location)
            except psycopg.Error:  # what libpq says of an address may have the password in it
                raise OffsphereError(
                    f"Postgres cannot read the address {hide_password(self.where.location)!r}: {HOW_TO_WRITE}"
                ) from None
            waited = {} if "connect_timeout" in known else {"connect_timeout": SECONDS}
            try:
                self._connection = psycopg.connect(self.where.location, autocommit=True, **waited)
            except psycopg.Error:
                if is_unclear(self.where.location):  # what libpq takes for the host, and names, may be half a password
                    raise OffsphereError(f"Postgres cannot be reached at {self.where}: {HOW_TO_WRITE}") from None
                raise
        return self._connection

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        """A transaction that cannot write."""
        with self._working(), self._connected().transaction():
            self._connection.execute("SET TRANSACTION READ ONLY")
            yield self._connection

    @contextmanager
    def _writing(self) -> Iterator[Any]:
        with self._working(), self._connected().transaction():
            yield self._connection

    def _working(self) -> Any:
        return working_with("Postgres", self.where)

    def _table(self, connection: Any) -> PostgresTable:
        table = PostgresTable.of(connection, self.parts)
        if table is None:
            raise DataError(f"there is no {self!r}")
        return table

    def _note(self, connection: Any) -> TableNote:
        note = self._table(connection).note
        if note is None:
            raise DataError(f"{self!r} is no table that an export made")
        return note

    def _write_note(self, note: TableNote) -> None:
        from psycopg import sql

        text = sql.SQL("COMMENT ON TABLE {} IS {}").format(sql.Identifier(*self.parts), sql.Literal(str(note)))
        self._connection.execute(text)

    def _sql(self, text: str, **columns: str) -> Any:
        """Put the names of the table and of its columns into SQL, quoted; those of an export where none are given."""
        sql = _package().sql
        columns = {"id": self.id_field or ID, "vector": self.vector_name or VECTOR, **columns}
        names = {key: sql.Identifier(name) for key, name in columns.items()}
        return sql.SQL(text).format(table=sql.Identifier(*self.parts), **names)

    def _vector_column(self, table: PostgresTable) -> str:
        return vector_column(table.vector_columns(), self.vector_name, VECTOR, repr(self))

    def _id_column(self, table: PostgresTable, vectors: str) -> str:
        """The column of ids; one is needed, since rows of Postgres have no order that would number them."""
        others = [name for name in table.columns if name != vectors]
        chosen = id_column(others, self.id_field, table.keys, repr(self))
        if chosen is None:
            listed = ", ".join(others) or "there is no other column"
            raise DataError(f"{self!r} has no column id and no key of one column: name one by --id-field: {listed}")
        return chosen

    def _first_width(self, connection: Any, column: str) -> int:
        """How many numbers the first vector has, where the column's type does not say."""
        first = "SELECT vector_dims({vector}) FROM {table} WHERE {vector} IS NOT NULL LIMIT 1"
        row = connection.execute(self._sql(first, vector=column)).fetchone()
        return int(row[0]) if row is not None else 0

    def _blocks(self, connection: Any, cells: Any, ids: list[str], form: tuple[int, str]) -> Iterator[Any]:
        """The vectors, so many rows at a time; their ids are added to the list."""
        with connection.cursor(name="offsphere_read", binary=True) as cursor:
            cursor.execute(cells)
            while rows := cursor.fetchmany(BATCH):
                names = id_texts([name for name, _ in rows], repr(self))
                ids += names
                yield received_rows([value for _, value in rows], names, *form)

    def __repr__(self) -> str:
        """Where it is, without the password."""
        return f"{self.where}"


def _bits(width: int) -> str:
    """The bits of a column of vectors, by pgvector's own function."""
    return f"binary_quantize({{vector}})::bit({width})"


def _question(metric: Metric, kind: str, k: int, by_bits: tuple[int, int] | None) -> str:
    """The SQL that asks for the k best; ``by_bits`` is the dimension, and how many candidates the bits find."""
    source = "{table}"
    if by_bits is not None:
        width, looked = by_bits
        near = f"{_bits(width)} <~> binary_quantize(%(query)s::vector)"
        source = f"(SELECT {{id}}, {{vector}} FROM {{table}} ORDER BY {near} LIMIT {looked}) AS near"
    distance = f"{{vector}} {OPERATORS[metric]} %(query)s::{kind}"
    return f"SELECT {{id}}::text, {distance} AS score FROM {source} ORDER BY score LIMIT {k}"


def _efforts(method: str, k: int, effort: int | None) -> dict[str, str]:
    """The settings of a connection by which an index returns k rows: pgvector's own are for about 40."""
    if method == "ivfflat":
        return {"ivfflat.iterative_scan": "relaxed_order", **({"ivfflat.probes": str(effort)} if effort else {})}
    if method != "hnsw":
        return {}
    looked = max(k, effort or 0, 40)
    settings = {"hnsw.ef_search": str(min(looked, LARGEST_EFFORT))}
    if looked > LARGEST_EFFORT:  # it goes on in the graph until there are enough
        settings |= {"hnsw.iterative_scan": "strict_order", "hnsw.max_scan_tuples": str(max(20_000, 20 * k))}
    return settings


def _package() -> Any:
    """The package, with the parts of it that are used."""
    for part in ("psycopg.conninfo", "psycopg.sql"):
        load_extra(part)
    return load_extra("psycopg")


POSTGRES = Engine(
    name="pgvector",
    metrics=MappingProxyType(
        {
            Metric.COSINE: MetricFacts(
                "ORDER BY embedding <=> query, index with vector_cosine_ops", ScoreFormula(-1, 1.0)
            ),
            Metric.INNER_PRODUCT: MetricFacts(
                "ORDER BY embedding <#> query (the negative inner product), index with vector_ip_ops", ScoreFormula(-1)
            ),
            Metric.EUCLIDEAN: MetricFacts("ORDER BY embedding <-> query, index with vector_l2_ops", ScoreFormula()),
        }
    ),
    prefix="postgres",
    location="DSN:TABLE",
    open=PostgresCollection,
    notes=(
        "A graph returns at most hnsw.ef_search rows, 40 where nobody sets it, whatever the LIMIT.",
        "Inverted lists look into one list unless ivfflat.probes is set.",
        "An index has room for 2,000 dimensions, or 4,000 as halfvec.",
        "Stored as binary, an index of bits (binary_quantize) finds candidates, which are ranked by the whole vectors.",
    ),
)
