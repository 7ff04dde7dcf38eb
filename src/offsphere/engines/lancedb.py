"""LanceDB: what to set for each metric, and a local table to write to and read from."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any

from offsphere.base.errors import DataError, MissingExtraError
from offsphere.base.unfinished import is_unfinished, marked_unfinished, refuse_unfinished
from offsphere.data.list_columns import BLOCK, gather_lists, is_float_list
from offsphere.data.store import Store
from offsphere.data.store_writer import locked
from offsphere.data.vector_files import id_texts
from offsphere.engines.collection import NamedRows
from offsphere.engines.databases import database_folder, remove_unfinished, working_with
from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric, MetricFacts, Returned
from offsphere.engines.store_parts import arrow_batches


def write_table(store: Store, folder: Path, name: str) -> None:
    """Write the vectors and ids into a new table.

    Raises:
        DataError: There is such a table already; half of one, left by a kill, is replaced.
    """
    files = _table_folder(folder, name)
    marked = files / "data"
    with locked(folder), working_with("LanceDB", folder):
        if is_unfinished(marked):
            remove_unfinished(files, marked)
        if files.exists() and any(not path.name.startswith(".") for path in files.iterdir()):
            raise DataError(f"{folder} has a table {name!r} already: choose another name")
        with marked_unfinished(marked):
            _open(folder).create_table(name, arrow_batches(store, "vector"))


def read_table(folder: Path, name: str) -> NamedRows:
    """Read the column ``vector`` of a table and, where it has one, the column ``id``.

    Raises:
        DataError: There is no such table, half of one, or one without vectors.
    """
    files = _table_folder(database_folder("LanceDB", folder), name)
    if not files.is_dir():
        raise DataError(f"{folder} has no table {name!r}")
    refuse_unfinished(files / "data")
    where = f"{folder}, table {name!r}"
    with working_with("LanceDB", folder):
        table = _open(folder).open_table(name)
        schema = table.schema
        if "vector" not in schema.names:
            raise DataError(f"{where}: it has no column 'vector', only {', '.join(schema.names) or 'none'}")
        kind = schema.field("vector").type
        if not is_float_list(kind):
            raise DataError(f"{where}: the column 'vector' is of type {kind}: expected lists of floats")
        vectors = gather_lists(kind, table.count_rows(), lambda rows: _blocks(table, "vector", rows), where)
        if "id" not in schema.names:
            return vectors, None
        return vectors, id_texts([value for block in _blocks(table, "id", BLOCK) for value in block.to_pylist()], where)


def _blocks(table: Any, column: str, rows: int) -> Any:
    """Read a column in Arrow arrays of at most so many rows, in the order in which they were added."""
    return (batch.column(0) for batch in table.search().select([column]).to_batches(batch_size=rows))


def _table_folder(folder: Path, name: str) -> Path:
    """The folder of a table, which need not be there."""
    if not name.strip(".") or not all(sign.isascii() and (sign.isalnum() or sign in "_-.") for sign in name):
        raise DataError(f"{name!r} cannot name a LanceDB table: take letters, digits, _, - and .")
    return folder / f"{name}.lance"


def _open(folder: Path) -> Any:
    """Open a local database; an absolute path is never taken for an address in the network."""
    try:
        import lancedb
    except ImportError as error:
        raise MissingExtraError("lancedb", "lancedb") from error
    return lancedb.connect(str(folder.absolute()))


LANCEDB = Engine(
    name="LanceDB",
    metrics=MappingProxyType(
        {
            Metric.COSINE: MetricFacts('table.search(query).distance_type("cosine")', Returned(-1, 1.0)),
            Metric.INNER_PRODUCT: MetricFacts('table.search(query).distance_type("dot")', Returned(-1, 1.0)),
            Metric.EUCLIDEAN: MetricFacts('table.search(query).distance_type("l2")', Returned(squared=True)),
        }
    ),
)
