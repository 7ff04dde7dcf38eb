"""FAISS: an index as a file, exact (flat), as a graph (HNSW) or as inverted lists (IVF), its ids beside it.

FAISS has inner product and squared distance and no cosine: whoever wants that normalises, as a lowered scorer does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from math import ceil, sqrt
from types import MappingProxyType
from typing import Any

import numpy as np

from offsphere.base.arrays import Rows
from offsphere.base.checksums import refuse_other_bytes
from offsphere.base.extras import load_extra
from offsphere.base.reading.file_access import reading
from offsphere.engines.collection import CollectionFacts, Hits, Layout, NamedRows
from offsphere.engines.engine import Engine
from offsphere.engines.faiss_files import KIND, OTHER_METRICS, flat_header, read_header
from offsphere.engines.faiss_vectors import holds_vectors, read_faiss_rows
from offsphere.engines.index_file import FileCollection, IndexStream, file_with_ids
from offsphere.engines.metric import Metric, MetricFacts, ScoreFormula
from offsphere.engines.python_text import python_text
from offsphere.engines.target import Target

NEIGHBOURS = 32  # of a node of the graph
TRAINING_ROWS = 64  # of each list, that the lists are found with
METRICS = {Metric.INNER_PRODUCT: 0, Metric.EUCLIDEAN: 1}  # as FAISS numbers them
KINDS = {
    "IHNf": "HNSW",
    "IHNs": "HNSW, scalar quantizer",
    "IwFl": "IVF",
    "IwSq": "IVF, scalar quantizer",
    "IxSQ": "scalar quantizer",
    "IxMp": "IDMap",
    "IxM2": "IDMap2",
}


class _AbandonedError(Exception):
    """An index that is not finished: what was written of it is thrown away."""


class FaissCollection(FileCollection):
    """An index of FAISS. A flat one is streamed to its file; a graph is built in memory first."""

    index_kinds = ("exact", "graph", "lists")
    stored_forms = ("float32", "float16", "int8")

    def __init__(self, where: Target, *, id_field: str | None = None, vector_name: str | None = None) -> None:
        super().__init__(where, id_field=id_field, vector_name=vector_name)
        self.ids_path = self.path.with_suffix(".ids")  # as beside every other file of vectors
        self._layout: Layout | None = None
        self._index: Any = None
        self._stack = ExitStack()
        self._stream: IndexStream | None = None  # of a flat index
        self._by_number: dict[int, str] | None = None  # ids, where vectors have numbers of their own

    def facts(self) -> CollectionFacts | None:
        """What the header of the file says."""
        if not self.there():
            return None
        header = read_header(self.path)
        known = {number: metric for metric, number in METRICS.items()}
        index = "flat" if header.is_flat else KINDS.get(header.kind, header.kind)
        stored = "codes" if "quantizer" in index else "float32"
        return CollectionFacts(
            header.width,
            known.get(header.metric),
            header.rows,
            index,
            stored,
            other_metric=OTHER_METRICS.get(header.metric, ""),
        )

    def check_packages(self) -> None:
        """A flat index is written without FAISS, but not searched."""
        load_extra("faiss")

    def create(self, layout: Layout) -> None:
        """Begin an index of so many vectors."""
        self._layout, self._added = layout, []
        if layout.index == "exact" and layout.stored == "float32":
            self._stream = self._stack.enter_context(file_with_ids(self.path, self.ids_path))
            self._stream.write(flat_header(layout.dimension, layout.rows, METRICS[layout.metric]))
        else:
            self._index = _new_index(layout)

    def add_rows(self, rows: Rows) -> None:
        """Write vectors of a flat index, or add them to the one in memory."""
        if self._stream is not None:
            self._stream.write(np.ascontiguousarray(rows, "<f4").data)
            return
        if not self._index.is_trained:
            self._index.train(np.ascontiguousarray(rows, np.float32))
        self._index.add(np.ascontiguousarray(rows, np.float32))

    def write(self, stream: IndexStream) -> None:
        """Write the index that is in memory."""
        faiss = load_extra("faiss")
        faiss.write_index(self._index, faiss.PyCallbackIOWriter(stream.write))

    def finish(self) -> None:
        """Write the ids, and let the files appear."""
        if self._stream is not None:
            stream, self._stream = self._stream, None
            stream.ids = self._added
            self._stack.close()
            self.know_written(stream)
        else:
            super().finish()
        self._index = None

    def search(self, queries: Rows, k: int, effort: int | None = None) -> Hits:
        """Search the index of the file."""
        index = self._opened()
        _set_effort(index, effort)
        return self.bare_search(queries, min(k, index.ntotal))

    def bare_search(self, queries: Rows, k: int) -> Hits:
        """Search the index of the file as it is."""
        index = self._opened()
        names = self.names(index.ntotal)
        scores, rows = index.search(np.ascontiguousarray(queries, np.float32), k)
        there = rows >= 0
        return Hits(
            [[names[row] for row in answer[kept].tolist()] for answer, kept in zip(rows, there, strict=True)],
            [answer[kept].astype(np.float64) for answer, kept in zip(scores, there, strict=True)],
        )

    def names(self, rows: int) -> Mapping[int, str] | Sequence[str]:
        """The ids by the numbers that the index knows vectors by."""
        return self._by_number if self._by_number is not None else super().names(rows)

    def read(self) -> NamedRows:
        """Read the vectors of an index that holds them: flat, a graph, inverted lists, or these behind a map of ids.

        Raises:
            DataError: It is damaged, or does not hold the vectors themselves.
        """
        vectors, numbers = read_faiss_rows(self.path)
        names = self.known_names(len(vectors))
        if numbers is None:
            return NamedRows(vectors, names)
        return NamedRows(vectors, names if names is not None else [str(number) for number in numbers.tolist()])

    def snippet(self, layout: Layout, k: int, effort: int | None = None) -> str:
        """Read the index once, and search it."""
        lines = ["import faiss", "from pathlib import Path", f"index = faiss.read_index({python_text(self.path)})"]
        if effort is not None and layout.index == "graph":
            lines.append(f"index.hnsw.efSearch = {effort}")
        if effort is not None and layout.index == "lists":
            lines.append(f"index.nprobe = {effort}")
        lines += [
            f'ids = Path({python_text(self.ids_path)}).read_text("utf-8").split("\\n")',
            f"scores, rows = index.search(query[None], {k})",
            "hits = [(ids[row], score) for row, score in zip(rows[0], scores[0]) if row >= 0]",
        ]
        return "\n".join(lines)

    def _opened(self) -> Any:
        """The index of the file, which FAISS believes: one that could be another's is checked first."""
        if self._index is not None:
            return self._index
        faiss = load_extra("faiss")
        header = read_header(self.path)
        if holds_vectors(header.kind):
            rows, numbers = read_faiss_rows(self.path)
            if numbers is not None:
                names = self.known_names(len(rows)) or [str(number) for number in numbers.tolist()]
                self._by_number = dict(zip(numbers.tolist(), names, strict=True))
        else:
            refuse_other_bytes(self.path, self.ids_path)
        with reading(self.path, KIND):
            self._index = faiss.read_index(str(self.path), faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY)
        return self._index

    def close(self) -> None:
        """Throw away what was not finished."""
        self._index = None
        if self._stream is not None:
            self._stream = None
            error = _AbandonedError()
            with suppress(_AbandonedError):
                self._stack.__exit__(_AbandonedError, error, None)


def _new_index(layout: Layout) -> Any:
    """An empty index in memory."""
    faiss = load_extra("faiss")
    metric = METRICS[layout.metric]
    whole = layout.stored == "float32"
    form = faiss.ScalarQuantizer.QT_fp16 if layout.stored == "float16" else faiss.ScalarQuantizer.QT_8bit
    if layout.index == "graph":
        if whole:
            return faiss.IndexHNSWFlat(layout.dimension, NEIGHBOURS, metric)
        return faiss.IndexHNSWSQ(layout.dimension, form, NEIGHBOURS, metric)
    if layout.index == "exact":  # of float32 it is written without FAISS
        return faiss.IndexScalarQuantizer(layout.dimension, form, metric)
    lists = max(1, min(ceil(4 * sqrt(layout.rows)), layout.rows // TRAINING_ROWS))
    quantizer = faiss.IndexFlat(layout.dimension, metric)
    if whole:
        index = faiss.IndexIVFFlat(quantizer, layout.dimension, lists, metric)
    else:
        index = faiss.IndexIVFScalarQuantizer(quantizer, layout.dimension, lists, form, metric)
    index.cp.min_points_per_centroid = 1  # or FAISS warns of few vectors, which nobody can change
    quantizer.this.disown()
    index.own_fields = True
    return index


def _set_effort(index: Any, effort: int | None) -> None:
    """Say how many candidates a graph looks at, or how many lists."""
    if effort is None:
        return
    if hasattr(index, "hnsw"):
        index.hnsw.efSearch = effort
    elif hasattr(index, "nprobe"):
        index.nprobe = effort


FAISS = Engine(
    name="FAISS",
    metrics=MappingProxyType(
        {
            Metric.INNER_PRODUCT: MetricFacts("IndexFlatIP (METRIC_INNER_PRODUCT)", ScoreFormula()),
            Metric.EUCLIDEAN: MetricFacts("IndexFlatL2 (METRIC_L2)", ScoreFormula(squared=True)),
        }
    ),
    prefix="faiss",
    location="FILE",
    named=False,
    suffix=".faiss",
    open=FaissCollection,
    notes=(
        "It has no cosine: vectors are normalised before they are stored and asked with.",
        "Inverted lists look into one list unless nprobe is set.",
    ),
)
