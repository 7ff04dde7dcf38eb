"""LanceDB: a table in a local folder, every row compared, or with an index of graphs or lists that is not quantised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import timedelta
from math import ceil
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from offsphere.base.arrays import Rows
from offsphere.base.errors import DataError, OffsphereError
from offsphere.base.extras import load_extra
from offsphere.base.unfinished import is_unfinished, mark_finished, mark_unfinished
from offsphere.data.list_columns import BLOCK, gather_lists, is_float_list
from offsphere.data.store_writer import locked
from offsphere.data.vector_files import id_texts
from offsphere.engines.collection import (
    Collection,
    CollectionFacts,
    Hits,
    Layout,
    NamedRows,
    NewRows,
    NoIdsError,
    NoMetricError,
)
from offsphere.engines.columns import id_column, vector_column
from offsphere.engines.databases import database_folder, remove_unfinished, working_with
from offsphere.engines.engine import Engine
from offsphere.engines.first_pass import candidates
from offsphere.engines.metric import Metric, MetricFacts, ScoreFormula
from offsphere.engines.python_text import python_text
from offsphere.engines.table_note import TableNote
from offsphere.engines.target import Target

ID, VECTOR, NOTE = "id", "vector", b"offsphere"
WORDS = {Metric.COSINE: "cosine", Metric.INNER_PRODUCT: "dot", Metric.EUCLIDEAN: "l2"}
INDEXES = {  # PQ is never chosen: by inner product it finds little more than half
    ("graph", "float32"): "IVF_HNSW_FLAT",
    ("graph", "float16"): "IVF_HNSW_FLAT",
    ("graph", "int8"): "IVF_HNSW_SQ",
    ("lists", "float32"): "IVF_FLAT",
    ("lists", "float16"): "IVF_FLAT",
    ("lists", "int8"): "IVF_SQ",
    ("lists", "binary"): "IVF_RQ",
}
BITS = "IVF_RQ"  # finds candidates by a bit a number; the table has the vectors that choose among them
LONGEST_NAME = 200  # a table is a folder of that name
BYTE = 8
DELETED = 1_000  # ids that are named in one condition


class LanceCollection(Collection):
    """A table of LanceDB. While it is filled a mark beside its data says so."""

    index_kinds = ("exact", "graph", "lists")
    stored_forms = ("float32", "float16", "int8", "binary")
    blocks_at_once = 16  # each version costs files and waiting

    def __init__(self, where: Target, *, id_field: str | None = None, vector_name: str | None = None) -> None:
        if where.is_address:
            raise OffsphereError(f"{where}: LanceDB is reached in a local folder only: write {LANCEDB.form}")
        self.folder, self.name = Path(where.location), where.name
        self.files = _table_folder(self.folder, self.name)
        self.id_field, self.vector_name = id_field, vector_name
        self._table: Any = None
        self._locks = ExitStack()
        self._locked = False

    def facts(self) -> CollectionFacts | None:
        """What the table's schema and its indexes say."""
        if not self.folder.exists() or not database_folder("LanceDB", self.folder) or not self.files.is_dir():
            return None
        unfinished = is_unfinished(self.files / "data")
        try:
            table = self._opened()
        except OffsphereError:
            if not unfinished:
                raise
            return CollectionFacts(0, None, 0, "none", unfinished=True)  # killed before the table was there
        column = self._vector_column()
        kind = table.schema.field(column).type
        with self._working():
            index = self._index()
            width = kind.list_size if hasattr(kind, "list_size") else self._first_width(column)
            note = self._note()
            metric, other = note.metric if note is not None else None, ""
            if index is not None:
                metric = {word: metric for metric, word in WORDS.items()}.get(index.distance_type)
                other = str(index.distance_type) if metric is None else ""
            words = index.index_type if index is not None else "no index: every row is compared"
            return CollectionFacts(
                width,
                metric,
                table.count_rows(),
                words,
                f"{kind.value_type} and bits" if words == BITS else str(kind.value_type),
                unfinished=unfinished,
                other_metric=other,
                as_given=note is None or note.as_given,
            )

    def check(self, layout: Layout, ids: Sequence[str]) -> None:  # noqa: ARG002
        """Refuse fewer bits without the index that has them."""
        if layout.stored == "int8" and layout.index == "exact":
            raise OffsphereError("LanceDB stores int8 in an index only: take --index graph or lists")
        if layout.stored == "binary" and layout.index != "lists":
            raise OffsphereError("LanceDB stores binary in inverted lists only: take --index lists")
        if layout.stored == "binary" and layout.dimension % BYTE:
            raise OffsphereError(
                f"{layout.dimension:,} dimensions: LanceDB stores bits by the eight, so that 8 must divide them: leave "
                "--stored out"
            )

    def create(self, layout: Layout) -> None:
        """Make an empty table, and mark it."""
        import pyarrow as pa

        self._lock()
        marked = self.files / "data"
        if is_unfinished(marked):
            remove_unfinished(self.files, marked)
        numbers = pa.float16() if layout.stored == "float16" else pa.float32()
        columns = [
            (self.id_field or ID, pa.string()),
            (self.vector_name or VECTOR, pa.list_(numbers, layout.dimension)),
        ]
        note = TableNote.made_for(layout).finished()  # the mark says that; a schema stays as it is
        with self._working():
            mark_unfinished(marked)
            self._table = _connect(self.folder).create_table(
                self.name, schema=pa.schema(columns, metadata={NOTE: str(note).encode()})
            )

    def add(self, ids: Sequence[str], rows: Rows) -> None:
        """Add vectors as a version of the table."""
        self.add_blocks([NewRows(ids, rows)])

    def add_blocks(self, blocks: Iterable[NewRows]) -> None:
        """Add a stream of Arrow batches, which is one version of the table: there as a whole, or not at all."""
        import pyarrow as pa

        schema = self._opened().schema.remove_metadata()
        numbers = schema.field(self._vector_column()).type.value_type
        stopped: list[BaseException] = []

        def batches() -> Iterator[Any]:
            try:
                for block in blocks:
                    rows = np.ascontiguousarray(block.rows, numbers.to_pandas_dtype())
                    lists = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])
                    yield pa.record_batch([pa.array(block.ids, pa.string()), lists], schema=schema)
                    del block, rows, lists  # while the next is made
            except BaseException as error:
                stopped.append(error)  # LanceDB would tell it in words of its own
                raise

        with self._working():
            try:
                self._table.add(pa.RecordBatchReader.from_batches(schema, batches()))
            except Exception as error:
                raise (stopped[0] if stopped else error) from error

    def discard(self, ids: Sequence[str]) -> None:
        """Remove these ids, and whatever a kill left of files that belong to no version."""
        self._lock()
        table, column = self._opened(), self._id_column()
        with self._working():
            for start in range(0, len(ids), DELETED):
                texts = ", ".join("'" + name.replace("'", "''") + "'" for name in ids[start : start + DELETED])
                table.delete(f"`{column}` IN ({texts})")
            table.optimize(cleanup_older_than=timedelta(0), delete_unverified=True)

    def finish(self) -> None:
        """Build the index, if there is to be one, and remove the mark."""
        self._lock()
        table, note = self._opened(), self._note()
        with self._working():
            if note is not None and note.index != "exact":
                table.create_index(
                    metric=WORDS[note.metric],
                    index_type=INDEXES[note.index, note.stored],
                    vector_column_name=self._vector_column(),
                    **({"num_bits": 1} if note.stored == "binary" else {}),
                )
        mark_finished(self.files / "data")

    def search(self, queries: Rows, k: int, effort: int | None = None) -> Hits:
        """Ask with one query after the other; what bits find is compared again by the vectors."""
        return self._asked(queries, k, effort)

    def bare_search(self, queries: Rows, k: int) -> Hits:
        """Ask with LanceDB's own settings."""
        return self._asked(queries, k, None, bare=True)

    def _asked(self, queries: Rows, k: int, effort: int | None, *, bare: bool = False) -> Hits:
        table, column, names = self._opened(), self._vector_column(), self._id_column()
        facts = self.facts()
        if facts is None or facts.metric is None:
            raise NoMetricError(f"{self!r} was made for no metric: each query chooses one")
        if names is None:
            raise NoIdsError(f"{self!r} has no column of ids to answer with: name one with --id-field")
        ids, scores = [], []
        with self._working():
            for query in np.ascontiguousarray(queries, np.float32):
                asked = table.search(query, vector_column_name=column).distance_type(WORDS[facts.metric]).limit(k)
                if effort is not None:
                    asked = asked.ef(max(effort, k)) if "HNSW" in facts.index else asked.nprobes(effort)
                if facts.index == BITS and not bare:
                    asked = asked.refine_factor(_times_k(k, effort))
                answer = asked.select([names, "_distance"]).to_arrow()
                ids.append([str(name) for name in answer.column(names).to_pylist()])
                scores.append(answer.column("_distance").to_numpy().astype(np.float64))
        return Hits(ids, scores)

    def read(self) -> NamedRows:
        """Read the column of vectors and, where there is one, that of ids, in the order in which they were added."""
        table, column, names = self._opened(), self._vector_column(), self._id_column()
        with self._working():
            kind, rows = table.schema.field(column).type, table.count_rows()
            vectors = gather_lists(kind, rows, lambda size: _blocks(table, column, size), repr(self))
            if names is None:
                return NamedRows(vectors, None)
            values = [value for block in _blocks(table, names, BLOCK) for value in block.to_pylist()]
            return NamedRows(vectors, id_texts(values, repr(self)))

    def remove(self) -> None:
        """Remove the folder of the table."""
        if self.files.is_dir():
            self._lock()
            self._table = None
            mark_unfinished(self.files / "data")
            remove_unfinished(self.files, self.files / "data")

    def snippet(self, layout: Layout, k: int, effort: int | None = None) -> str:
        """Open the table, and ask it by the metric that it was made for."""
        column, names = self.vector_name or VECTOR, self.id_field or ID
        search = "table.search(query)" if column == VECTOR else f'table.search(query, vector_column_name="{column}")'
        search += f'.distance_type("{WORDS[layout.metric]}").limit({k})'
        if effort is not None and layout.index != "exact":
            search += f".ef({max(effort, k)})" if layout.index == "graph" else f".nprobes({effort})"
        if layout.stored == "binary":
            search += f".refine_factor({_times_k(k, effort)})"
        folder, name = python_text(self.folder), python_text(self.name)
        return "\n".join(
            [
                "import lancedb",
                f"table = lancedb.connect({folder}).open_table({name})",
                f"rows = {search}.to_list()",
                f'hits = [(row["{names}"], row["_distance"]) for row in rows]',
            ]
        )

    def close(self) -> None:
        """Let others write to the table."""
        self._table, self._locked = None, False
        self._locks.close()

    def _lock(self) -> None:
        """Keep other exports out of the table until this one is closed."""
        if not self._locked:
            self._locks.enter_context(locked(self.folder, f".{self.name}.lock"))
            self._locked = True

    def _opened(self) -> Any:
        if self._table is None:
            with self._working():
                self._table = _connect(self.folder).open_table(self.name)
        return self._table

    def _working(self) -> Any:
        return working_with("LanceDB", self.folder)

    def _note(self) -> TableNote | None:
        """What the table was made for, if we made it."""
        text = (self._opened().schema.metadata or {}).get(NOTE)
        return TableNote.of(text.decode(errors="replace")) if text is not None else None

    def _index(self) -> Any:
        """What LanceDB says of the index of the vectors; nothing where there is none."""
        column = self._vector_column()
        for index in self._opened().list_indices():
            if index.columns == [column]:
                return self._opened().index_stats(index.name)
        return None

    def _vector_column(self) -> str:
        schema = self._opened().schema
        candidates = [field.name for field in schema if is_float_list(field.type)]
        asked = self.vector_name
        if asked is None and VECTOR in schema.names and VECTOR not in candidates:
            asked = VECTOR
        if asked in schema.names and asked not in candidates:
            kind = schema.field(asked).type
            raise DataError(f"{self!r}: the column {asked!r} is of type {kind}: expected lists of floats")
        return vector_column(candidates, asked, VECTOR, repr(self))

    def _id_column(self) -> str | None:
        others = [name for name in self._opened().schema.names if name != self._vector_column()]
        return id_column(others, self.id_field, (), repr(self))

    def _first_width(self, column: str) -> int:
        """How many numbers the first vector has, where lists may be of any length."""
        first = self._opened().search().select([column]).limit(1).to_arrow().column(0)
        return len(first[0]) if len(first) and first[0].is_valid else 0

    def __repr__(self) -> str:
        """The folder and the table."""
        return f"{self.folder}, table {self.name!r}"


def _blocks(table: Any, column: str, rows: int) -> Any:
    """Read a column in Arrow arrays of at most so many rows, in the order in which they were added."""
    return (batch.column(0) for batch in table.search().select([column]).to_batches(batch_size=rows))


def _times_k(k: int, effort: int | None) -> int:
    """How many times k candidates the bits find."""
    return ceil(candidates(k, effort) / k)


def _table_folder(folder: Path, name: str) -> Path:
    """The folder of a table, which need not be there."""
    signs = all(sign.isascii() and (sign.isalnum() or sign in "_-.") for sign in name)
    if not name.strip(".") or not signs or len(name) > LONGEST_NAME:
        raise DataError(
            f"{name!r} cannot name a LanceDB table: take letters, digits, _, - and ., at most {LONGEST_NAME} of them"
        )
    return folder / f"{name}.lance"


def _connect(folder: Path) -> Any:
    """Open a local database; an absolute path is never taken for an address in the network."""
    return load_extra("lancedb").connect(str(folder.absolute()))


LANCEDB = Engine(
    name="LanceDB",
    metrics=MappingProxyType(
        {
            Metric.COSINE: MetricFacts('table.search(query).distance_type("cosine")', ScoreFormula(-1, 1.0)),
            Metric.INNER_PRODUCT: MetricFacts('table.search(query).distance_type("dot")', ScoreFormula(-1, 1.0)),
            Metric.EUCLIDEAN: MetricFacts('table.search(query).distance_type("l2")', ScoreFormula(squared=True)),
        }
    ),
    prefix="lancedb",
    location="FOLDER:TABLE",
    open=LanceCollection,
    notes=(
        "Each query says its metric, and takes l2 where it says none.",
        "A query by another metric than the index's is answered without the index, slowly.",
        "The index that it makes where nobody chooses one is product-quantised, which inner products suffer from.",
    ),
)
