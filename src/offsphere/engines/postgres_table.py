"""What Postgres says of a table: its columns of vectors, its key, its indexes, its comment. Nothing is written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from offsphere.base.errors import DataError, OffsphereError
from offsphere.engines.metric import Metric
from offsphere.engines.table_note import TableNote

FAMILIES = {"ip": Metric.INNER_PRODUCT, "cosine": Metric.COSINE, "l2": Metric.EUCLIDEAN}  # of operators, in an opclass
BITS = "bit_hamming_ops"
_PART = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')

_COLUMNS = """
SELECT a.attname, t.typname, a.atttypmod FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_KEYS = """
SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
WHERE i.indrelid = %s AND i.indisprimary
"""
_INDEXES = """
SELECT a.attname, m.amname, o.opcname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_am m ON m.oid = c.relam JOIN pg_opclass o ON o.oid = i.indclass[0]
LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
WHERE i.indrelid = %s AND i.indisvalid AND m.amname IN ('hnsw', 'ivfflat') ORDER BY c.relname
"""


class VectorIndex(NamedTuple):
    """An index of vectors: on which column, none for the bits of one, of which method, for which operators."""

    column: str | None
    method: str
    operators: str

    @property
    def metric(self) -> Metric | None:
        """The metric that it serves; nothing where it is one that we do not have."""
        return FAMILIES.get(self.operators.split("_")[1])


class PostgresTable(NamedTuple):
    """A table that is there."""

    columns: dict[str, tuple[str, int]]  # the type of each, and its dimension, -1 where it may have any
    keys: Sequence[str]
    indexes: Sequence[VectorIndex]
    note: TableNote | None

    @classmethod
    def of(cls, connection: Any, parts: Sequence[str]) -> PostgresTable | None:
        """Look a table or a view up by its name, through the search path; nothing where there is none."""
        from psycopg import sql

        name = sql.Identifier(*parts).as_string(connection)
        entry = connection.execute(
            "SELECT oid, obj_description(oid, 'pg_class') FROM pg_class "
            "WHERE oid = to_regclass(%s) AND relkind IN ('r', 'p', 'v', 'm', 'f')",
            [name],
        ).fetchone()
        if entry is None:
            return None
        oid, comment = entry
        columns = {name: (kind, size) for name, kind, size in connection.execute(_COLUMNS, [oid])}
        keys = [name for (name,) in connection.execute(_KEYS, [oid])]
        indexes = [VectorIndex(*row) for row in connection.execute(_INDEXES, [oid])]
        return cls(columns, keys, indexes, TableNote.of(comment))

    @property
    def by_bits(self) -> bool:
        """Whether it was made so that bits find the candidates."""
        return self.note is not None and self.note.stored == "binary"

    def metric_of(self, column: str) -> Metric | None:
        """What a column is ranked by: that of its index, else what the table was made for."""
        index = self.index_of(column)
        if index is not None and not self.by_bits:
            return index.metric
        return self.note.metric if self.note is not None else None

    def vector_columns(self) -> list[str]:
        """The columns that hold vectors."""
        return [name for name, (kind, _) in self.columns.items() if kind in ("vector", "halfvec")]

    def index_of(self, column: str) -> VectorIndex | None:
        """The index of a column; of several the one that the table was made with."""
        if self.by_bits:
            return next((index for index in self.indexes if index.operators == BITS), None)
        indexes = [index for index in self.indexes if index.column == column]
        wanted = [index for index in indexes if self.note is not None and index.metric is self.note.metric]
        return next(iter(wanted or indexes), None)


def table_parts(name: str) -> list[str]:
    """Read the name of a table, with its schema before a dot if need be; a part in double quotes may have dots.

    Raises:
        OffsphereError: It is no such name.

    Example:
        >>> from offsphere.engines.postgres_table import table_parts
        >>> table_parts("search.docs"), table_parts('"my.docs"')
        (['search', 'docs'], ['my.docs'])
    """
    parts, position = [], 0
    while position <= len(name):
        match = _PART.match(name, position)
        if match is None or (match.end() < len(name) and name[match.end()] != "."):
            raise OffsphereError(f"{name!r} cannot name a table: write TABLE or SCHEMA.TABLE, in quotes where needed")
        parts.append(match[2] if match[1] is None else match[1].replace('""', '"'))
        position = match.end() + 1
    if len(parts) > 2 or any("\0" in part for part in parts):  # noqa: PLR2004
        raise DataError(f"{name!r} cannot name a table: write TABLE or SCHEMA.TABLE")
    return parts
