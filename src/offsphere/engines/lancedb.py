"""LanceDB: what to set for each metric, and a local table to write to and read from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from offsphere.base.errors import DataError, MissingExtraError
from offsphere.data.store import Store
from offsphere.engines.engine import Engine, Exchange, MetricWords, NamedRows
from offsphere.engines.store_parts import arrow_table


def write_table(store: Store, folder: Path, name: str) -> None:
    """Write the vectors and ids into a new table."""
    database = _open(folder)
    if name in _table_names(database):
        raise DataError(f"{folder} has a table {name!r} already: choose another name")
    database.create_table(name, arrow_table(store, "vector"))


def read_table(folder: Path, name: str) -> NamedRows:
    """Read the column ``vector`` of a table and, where it has one, the column ``id``."""
    database = _open(folder)
    if name not in _table_names(database):
        raise DataError(f"{folder} has no table {name!r}")
    table = database.open_table(name).to_arrow()
    if "vector" not in table.column_names:
        raise DataError(f"the table {name!r} has no column 'vector'")
    rows = table["vector"].combine_chunks()
    ids = [str(value) for value in table["id"].to_pylist()] if "id" in table.column_names else None
    return rows.flatten().to_numpy().reshape(len(rows), -1), ids


def _open(folder: Path) -> Any:
    """Open a local database."""
    try:
        import lancedb
    except ImportError as error:
        raise MissingExtraError("lancedb", "lancedb") from error
    return lancedb.connect(str(folder))


def _table_names(database: Any) -> list[str]:
    """List the tables, whichever way this version of the package tells them."""
    names = database.list_tables() if hasattr(database, "list_tables") else database.table_names()
    return list(getattr(names, "tables", names))


LANCEDB = Engine(
    name="LanceDB",
    words=MetricWords(
        cosine='table.search(query).distance_type("cosine")',
        inner_product='table.search(query).distance_type("dot")',
        euclidean='table.search(query).distance_type("l2")',
    ),
    exchange=Exchange(location="lancedb:FOLDER:TABLE", write=write_table, read=read_table),
)
