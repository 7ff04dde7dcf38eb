"""usearch: a graph as a file, its ids beside it.

usearch stores bfloat16 unless it is told otherwise; an export says how numbers are stored, float32 where nobody asks.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from offsphere.base.arrays import Rows
from offsphere.base.checksums import refuse_other_bytes
from offsphere.base.extras import load_extra
from offsphere.base.reading.file_access import reading
from offsphere.engines.collection import CollectionFacts, Hits, Layout, NamedRows, NumberForm
from offsphere.engines.engine import Engine
from offsphere.engines.index_file import FileCollection, IndexStream
from offsphere.engines.metric import Metric, MetricFacts, ScoreFormula
from offsphere.engines.python_text import python_text

KIND = "a usearch index"
METRICS = {Metric.COSINE: "cos", Metric.INNER_PRODUCT: "ip", Metric.EUCLIDEAN: "l2sq"}
FORMS: dict[NumberForm, str] = {"float32": "f32", "float16": "f16", "int8": "i8"}


class UsearchCollection(FileCollection):
    """An index of usearch, built in memory; the same file is searched as a graph, or exactly."""

    index_kinds = ("graph", "exact")
    stored_forms = tuple(FORMS)

    def __init__(self, where: Any, **fields: Any) -> None:
        super().__init__(where, **fields)
        self._index: Any = None
        self._exact = False

    def facts(self) -> CollectionFacts | None:
        """What the header of the file says."""
        if not self.there():
            return None
        with reading(self.path, KIND):
            header = load_extra("usearch.index").Index.metadata(str(self.path))
            if header is None:
                raise ValueError("it has no header")
        known = {"Cos": Metric.COSINE, "IP": Metric.INNER_PRODUCT, "L2sq": Metric.EUCLIDEAN}
        rows = header["count_present"] - header["count_deleted"]
        stored, word = header["kind_scalar"].name.lower(), header["kind_metric"].name
        other = word if word not in known else ""
        return CollectionFacts(header["dimensions"], known.get(word), rows, "HNSW", stored, other_metric=other)

    def create(self, layout: Layout) -> None:
        """Begin an index in memory."""
        self._exact, self._added = layout.index == "exact", []
        self._index = load_extra("usearch.index").Index(
            ndim=layout.dimension, metric=METRICS[layout.metric], dtype=FORMS[layout.stored], expansion_add=128
        )

    def add_rows(self, rows: Rows) -> None:
        """Add vectors by their numbers."""
        start = len(self._added)
        self._index.add(np.arange(start, start + len(rows)), np.ascontiguousarray(rows))

    def write(self, stream: IndexStream) -> None:
        """Write the index that is in memory."""
        self.write_saved(self._index.save, stream)

    def finish(self) -> None:
        """Write the index; the one in memory is thrown away, so that what is tried is the file."""
        super().finish()
        self._index = None

    def search(self, queries: Rows, k: int, effort: int | None = None) -> Hits:
        """Search the index of the file."""
        index = self._load()
        if effort is not None:
            index.expansion_search = effort
        return self.bare_search(queries, min(k, len(index)))

    def bare_search(self, queries: Rows, k: int) -> Hits:
        """Search the index of the file as it is."""
        index = self._load()
        names = self.names(len(index))
        matches = index.search(np.ascontiguousarray(queries), k, exact=self._exact)
        if len(queries) == 1:
            keys, distances, counts = matches.keys[None], matches.distances[None], [len(matches.keys)]
        else:
            keys, distances, counts = matches.keys, matches.distances, matches.counts
        return Hits(
            [[names[key] for key in row[:count].tolist()] for row, count in zip(keys, counts, strict=True)],
            [row[:count].astype(np.float64) for row, count in zip(distances, counts, strict=True)],
        )

    def read(self) -> NamedRows:
        """Read the vectors back, in the order of their numbers."""
        index = self._load()
        with reading(self.path, KIND):
            keys = np.sort(np.asarray(index.keys))
            vectors = np.asarray(index.get(keys), np.float32)
        known = self.known_names(len(keys)) if len(keys) and keys[-1] == len(keys) - 1 else None
        names = known or [str(key) for key in keys.tolist()]
        return NamedRows(vectors, names)

    def snippet(self, layout: Layout, k: int, effort: int | None = None) -> str:
        """Map the file, and search it."""
        lines = [
            "from pathlib import Path",
            "from usearch.index import Index",
            f"index = Index.restore({python_text(self.path)}, view=True)",
        ]
        lines += [f"index.expansion_search = {effort}"] if effort is not None else []
        exact = ", exact=True" if layout.index == "exact" else ""
        return "\n".join(
            [
                *lines,
                f'ids = Path({python_text(self.ids_path)}).read_text("utf-8").split("\\n")',
                f"found = index.search(query, {k}{exact})",
                "hits = [(ids[key], distance) for key, distance in zip(found.keys, found.distances)]",
            ]
        )

    def close(self) -> None:
        """Let go of the index."""
        self._index = None

    def _load(self) -> Any:
        """The index of the file, mapped."""
        if self._index is None:
            refuse_other_bytes(self.path, self.ids_path)
            with reading(self.path, KIND):
                self._index = load_extra("usearch.index").Index.restore(str(self.path), view=True)
        return self._index


USEARCH = Engine(
    name="usearch",
    metrics=MappingProxyType(
        {
            Metric.COSINE: MetricFacts('Index(ndim=d, metric="cos")', ScoreFormula(-1, 1.0)),
            Metric.INNER_PRODUCT: MetricFacts('Index(ndim=d, metric="ip")', ScoreFormula(-1, 1.0)),
            Metric.EUCLIDEAN: MetricFacts('Index(ndim=d, metric="l2sq")', ScoreFormula(squared=True)),
        }
    ),
    prefix="usearch",
    location="FILE",
    named=False,
    suffix=".usearch",
    open=UsearchCollection,
    notes=('It stores bfloat16 unless dtype="f32" is said.',),
)
