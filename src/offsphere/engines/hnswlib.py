"""hnswlib: a graph as a file, its ids beside it, and a small file that says its metric, which hnswlib does not keep.

The three have their checksums in common, so that no index is ever taken for one of another metric.

For cosine hnswlib stores normalised copies: lengths are lost.
"""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from offsphere.base.arrays import Rows
from offsphere.base.checksums import refuse_other_bytes
from offsphere.base.errors import DataError
from offsphere.base.extras import load_extra
from offsphere.base.reading.file_access import is_there, open_file, reading
from offsphere.base.reading.records import record_of
from offsphere.base.reading.sealed_json import read_sealed, sealed_bytes
from offsphere.engines.collection import CollectionFacts, Hits, Layout, NamedRows
from offsphere.engines.engine import Engine
from offsphere.engines.index_file import FileCollection, IndexStream
from offsphere.engines.metric import Metric, MetricFacts, ScoreFormula
from offsphere.engines.python_text import python_text

KIND = "an hnswlib index"
METRICS = {Metric.COSINE: "cosine", Metric.INNER_PRODUCT: "ip", Metric.EUCLIDEAN: "l2"}
NEIGHBOURS, CONSTRUCTION = 32, 200
LEAST_EFFORT = 10  # what hnswlib takes where nobody says


class HnswHeader(NamedTuple):
    """What hnswlib's file does not say of itself."""

    space: str
    dimension: int
    rows: int


class HnswlibCollection(FileCollection):
    """An index of hnswlib, built in memory."""

    index_kinds = ("graph",)

    def __init__(self, where: Any, **fields: Any) -> None:
        super().__init__(where, **fields)
        self._index: Any = None
        self._layout: Layout | None = None
        self.header_path: Path = self.path.with_name(self.path.name + ".json")

    def facts(self) -> CollectionFacts | None:
        """What the file beside the index says."""
        if not self.there():
            return None
        header = self._header()
        metric = {space: metric for metric, space in METRICS.items()}.get(header.space)
        normalized = metric is Metric.COSINE
        return CollectionFacts(header.dimension, metric, header.rows, "HNSW", normalized=normalized)

    def create(self, layout: Layout) -> None:
        """Begin an index in memory."""
        self._layout, self._added = layout, []
        self._index = load_extra("hnswlib").Index(METRICS[layout.metric], layout.dimension)
        self._index.init_index(layout.rows, M=NEIGHBOURS, ef_construction=CONSTRUCTION, random_seed=0)

    def add_rows(self, rows: Rows) -> None:
        """Add vectors by their numbers."""
        start = len(self._added)
        self._index.add_items(np.ascontiguousarray(rows), np.arange(start, start + len(rows)))

    def write(self, stream: IndexStream) -> None:
        """Write the index that is in memory, and say what it does not."""
        assert self._layout is not None
        header = HnswHeader(METRICS[self._layout.metric], self._layout.dimension, len(self._added))
        stream.header = sealed_bytes(header._asdict(), {})
        self.write_saved(self._index.save_index, stream)

    def finish(self) -> None:
        """Write the index; the one in memory is thrown away, so that what is tried is the file."""
        super().finish()
        self._index = None

    def search(self, queries: Rows, k: int, effort: int | None = None) -> Hits:
        """Search the index of the file; k is cut to what there is, since hnswlib refuses more."""
        k = min(k, self._load().get_current_count())
        return self._asked(queries, k, max(effort or LEAST_EFFORT, k))

    def bare_search(self, queries: Rows, k: int) -> Hits:
        """Search with what hnswlib looks at by itself."""
        return self._asked(queries, k, LEAST_EFFORT)

    def _asked(self, queries: Rows, k: int, effort: int) -> Hits:
        index = self._load()
        index.set_ef(effort)
        names = self.names(index.get_current_count())
        with reading(self.path, KIND):
            keys, distances = index.knn_query(np.ascontiguousarray(queries), k)
        return Hits([[names[key] for key in row.tolist()] for row in keys], list(distances.astype(np.float64)))

    def read(self) -> NamedRows:
        """Read the vectors back, in the order of their numbers; those of cosine come back normalised."""
        index = self._load()
        with reading(self.path, KIND):
            keys = np.sort(np.asarray(index.get_ids_list()))
            return NamedRows(np.asarray(index.get_items(keys), np.float32), self.known_names(len(keys)))

    def snippet(self, layout: Layout, k: int, effort: int | None = None) -> str:
        """Read the index once, and search it."""
        return "\n".join(
            [
                "from pathlib import Path",
                "import hnswlib",
                f'index = hnswlib.Index("{METRICS[layout.metric]}", len(query))',
                f"index.load_index({python_text(self.path)})",
                f"index.set_ef({max(effort or LEAST_EFFORT, k)})",
                f'ids = Path({python_text(self.ids_path)}).read_text("utf-8").split("\\n")',
                f"keys, distances = index.knn_query(query[None], {k})",
                "hits = [(ids[key], distance) for key, distance in zip(keys[0], distances[0])]",
            ]
        )

    def close(self) -> None:
        """Let go of the index."""
        self._index = None

    def _header(self) -> HnswHeader:
        beside = self.header_path
        if not is_there(beside):
            raise DataError(f"{self.path} has no {beside.name} beside it: hnswlib does not say its own metric")
        return record_of(HnswHeader, read_sealed(beside), str(beside))

    def _load(self) -> Any:
        """The index of the file, which must have the bytes that were written: hnswlib believes whatever is there."""
        if self._index is None:
            open_file(self.path).close()
            refuse_other_bytes(self.path, self.ids_path, self.header_path)
            header = self._header()
            with reading(self.path, KIND):
                self._index = load_extra("hnswlib").Index(header.space, header.dimension)
                self._index.load_index(str(self.path))
        return self._index


HNSWLIB = Engine(
    name="hnswlib",
    metrics=MappingProxyType(
        {
            Metric.COSINE: MetricFacts(
                'Index(space="cosine", dim=d): normalised copies', ScoreFormula(-1, 1.0), keeps_length=False
            ),
            Metric.INNER_PRODUCT: MetricFacts('Index(space="ip", dim=d)', ScoreFormula(-1, 1.0)),
            Metric.EUCLIDEAN: MetricFacts('Index(space="l2", dim=d)', ScoreFormula(squared=True)),
        }
    ),
    prefix="hnswlib",
    location="FILE",
    named=False,
    suffix=".hnsw",
    open=HnswlibCollection,
    notes=(
        "Its file does not say which metric it is for.",
        "set_ef(10) is the default, and more documents than there are, or than its graph reaches, are refused.",
    ),
)
