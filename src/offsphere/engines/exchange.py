"""Stores to and from other people's formats: vector files, and whatever an engine of the registry reads and writes.

Lengths travel unharmed. Where an engine would normalise (Qdrant's cosine collections do so when a vector is stored),
export uses inner product, and import refuses what has lost its lengths already.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np

from offsphere.base.arrays import Vectors
from offsphere.base.digests import digest_of_texts
from offsphere.base.errors import DataError, OffsphereError
from offsphere.base.files import write_whole
from offsphere.base.version import __version__
from offsphere.data.store import Manifest, Store
from offsphere.data.store_writer import StoreWriter, locked
from offsphere.data.vector_files import SUFFIXES, read_vectors
from offsphere.engines.engine import BATCH, Exchange, NamedRows
from offsphere.engines.registry import ENGINES
from offsphere.engines.store_parts import arrow_table, write_ids


def export_store(store: Store, target: str) -> None:
    """Write a store's vectors and ids to a file or into a collection, by the target's ending or prefix.

    Args:
        store: what to write.
        target: a file such as ``vectors.parquet``, or a collection such as ``qdrant:FOLDER:COLLECTION``.

    Raises:
        OffsphereError: where the target is of no known kind.
        DataError: where a collection of that name is there already.
    """
    exchange, path, name = _engine_location(target) or (None, Path(target), "")
    if exchange is not None:
        exchange.write(store, path, name)
    elif path.suffix in _WRITERS:
        _WRITERS[path.suffix](store, path)
    else:
        raise OffsphereError(f"cannot export to {target!r}: give {_known_locations()}")


def import_vectors(source: str, folder: Path, *, model: str = "imported", ids: Sequence[str] | None = None) -> Store:
    """Make a store from vectors that exist already.

    Args:
        source: a file or a collection, as for ``export_store``.
        folder: the store to make.
        model: what made the vectors.
        ids: of the vectors in their order; without them those of the source, else their numbers.

    Returns:
        The store.

    Raises:
        DataError: where the source does not exist, cannot be read, or does not have as many ids as vectors.
        OffsphereError: where the source is of no known kind.
    """
    vectors, source_ids = _read_source(source)
    names = list(ids or source_ids or [str(row) for row in range(len(vectors))])
    if len(names) != len(vectors):
        raise DataError(f"{source} has {len(vectors)} vectors but there are {len(names)} ids: they must be as many")
    with locked(folder):
        return _write_store(source, folder, model, vectors, names)


def _write_store(source: str, folder: Path, model: str, vectors: Vectors, names: list[str]) -> Store:
    """Write vectors and ids as a store, from where an earlier attempt was interrupted."""
    plan = Manifest(
        model=model,
        revision=source,
        dimension=int(vectors.shape[1]),
        rows=len(vectors),
        dtype="float16" if vectors.dtype == np.float16 else "float32",
        side="document",
        prompt="",
        similarity=None,
        normalization_removed=[],
        normalization_kept=False,
        texts="",
        ids=digest_of_texts(names),
        empty=0,
        version=__version__,
    )
    starts = range(0, len(vectors), BATCH)
    writer = StoreWriter(folder, plan, len(starts))
    for number, start in enumerate(starts):
        if number >= writer.done:
            rows = np.arange(start, min(start + BATCH, len(vectors)))
            writer.write(rows, np.asarray(vectors[rows[0] : rows[-1] + 1]))
    unknown = np.full(len(vectors), -1, np.int32)
    return writer.finish(names, unknown.tolist(), unknown, [False] * len(names))


def _read_source(source: str) -> NamedRows:
    """Read vectors, and ids where there are some, from a file or a collection."""
    exchange, path, name = _engine_location(source) or (None, Path(source), "")
    if not name and not path.is_file():
        raise DataError(f"{path} does not exist")
    if exchange is not None:
        return exchange.read(path, name)
    if path.suffix not in SUFFIXES:
        raise OffsphereError(f"cannot import {source!r}: give {_known_locations()}")
    file = read_vectors(path)
    return file.vectors, file.ids


def _engine_location(text: str) -> tuple[Exchange, Path, str] | None:
    """Find the engine that a location belongs to, with its file, or its folder and a name; nothing where none does."""
    prefix, _, rest = text.partition(":")
    suffix = Path(text).suffix
    for exchange in _exchanges():
        if rest and exchange.prefix == prefix:
            folder, colon, name = rest.rpartition(":")
            if not colon or not folder or not name:
                raise OffsphereError(f"cannot read {text!r}: write {prefix}:FOLDER:NAME")
            return exchange, Path(folder), name
    return next(((exchange, Path(text), "") for exchange in _exchanges() if suffix and exchange.suffix == suffix), None)


def _known_locations() -> str:
    """List all files and collections that can be written and read."""
    *first, last = [*_WRITERS, *(exchange.location for exchange in _exchanges())]
    return f"{', '.join(first)} or {last}"


def _exchanges() -> list[Exchange]:
    """List how vectors travel to the engines that take them."""
    return [engine.exchange for engine in ENGINES if engine.exchange is not None]


def _write_npy(store: Store, path: Path) -> None:
    buffer = io.BytesIO()
    np.save(buffer, store.vectors)
    write_whole(path, buffer.getvalue())
    write_ids(store, path)


def _write_npz(store: Store, path: Path) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, vectors=store.vectors, ids=np.array(store.ids))
    write_whole(path, buffer.getvalue())


def _write_parquet(store: Store, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(arrow_table(store), sink)
    write_whole(path, sink.getvalue().to_pybytes())


def _write_safetensors(store: Store, path: Path) -> None:
    from safetensors.numpy import save

    write_whole(path, save({"vectors": np.ascontiguousarray(store.vectors)}))
    write_ids(store, path)


_WRITERS: Mapping[str, Callable[[Store, Path], None]] = MappingProxyType(
    {".npy": _write_npy, ".npz": _write_npz, ".parquet": _write_parquet, ".safetensors": _write_safetensors}
)
