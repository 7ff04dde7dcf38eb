"""Stores to and from other people's formats: vector files, a FAISS flat index, a Qdrant or LanceDB collection.

Lengths travel unharmed. Where an engine would normalise (Qdrant's cosine collections do so when a vector is stored),
export uses inner product, and import refuses what has lost its lengths already.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from offsphere.base.arrays import Vectors
from offsphere.base.digests import digest_of_texts
from offsphere.base.errors import DataError, MissingExtraError, OffsphereError
from offsphere.base.files import write_whole
from offsphere.base.version import __version__
from offsphere.data.store import Manifest, Store, StoreWriter, locked
from offsphere.data.vector_files import SUFFIXES, read_vectors

NamedRows = tuple[Vectors, Sequence[str] | None]

BATCH = 4096
FORMATS = ".npy, .npz, .parquet, .safetensors, .faiss, qdrant:FOLDER:COLLECTION or lancedb:FOLDER:TABLE"


def export_store(store: Store, target: str) -> None:
    """Write a store's vectors and ids to a file or into a collection, by the target's ending or prefix."""
    engine, _, rest = target.partition(":")
    if engine in ("qdrant", "lancedb") and rest:
        folder, name = _place(target, rest)
        (_to_qdrant if engine == "qdrant" else _to_lancedb)(store, folder, name)
        return
    path = Path(target)
    writers: dict[str, Callable[[Store, Path], None]] = {
        ".npy": _to_npy,
        ".npz": _to_npz,
        ".parquet": _to_parquet,
        ".safetensors": _to_safetensors,
        ".faiss": _to_faiss,
    }
    if path.suffix not in writers:
        raise OffsphereError(f"cannot export to {target!r}: give {FORMATS}")
    writers[path.suffix](store, path)


def import_vectors(source: str, folder: Path, *, model: str = "imported", ids: Sequence[str] | None = None) -> Store:
    """Make a store from vectors that exist already."""
    vectors, found = _read(source)
    names = list(ids or found or [str(row) for row in range(len(vectors))])
    if len(names) != len(vectors):
        raise DataError(f"{source} has {len(vectors)} vectors but there are {len(names)} ids: they must be as many")
    with locked(folder):
        return _stored(source, folder, model, vectors, names)


def _stored(source: str, folder: Path, model: str, vectors: Vectors, names: list[str]) -> Store:

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


def _read(source: str) -> NamedRows:
    engine, _, rest = source.partition(":")
    if engine in ("qdrant", "lancedb") and rest:
        folder, name = _place(source, rest)
        return (_from_qdrant if engine == "qdrant" else _from_lancedb)(folder, name)
    path = Path(source)
    if not path.is_file():
        raise DataError(f"{path} does not exist")
    if path.suffix == ".faiss":
        return _from_faiss(path)
    if path.suffix not in SUFFIXES:
        raise OffsphereError(f"cannot import {source!r}: give {FORMATS}")
    found = read_vectors(path)
    return found.vectors, found.ids


def _to_npy(store: Store, path: Path) -> None:
    buffer = io.BytesIO()
    np.save(buffer, store.vectors)
    write_whole(path, buffer.getvalue())
    _write_ids(store, path)


def _to_npz(store: Store, path: Path) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, vectors=store.vectors, ids=np.array(store.ids))
    write_whole(path, buffer.getvalue())


def _to_safetensors(store: Store, path: Path) -> None:
    from safetensors.numpy import save

    write_whole(path, save({"vectors": np.ascontiguousarray(store.vectors)}))
    _write_ids(store, path)


def _to_parquet(store: Store, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(_arrow(store), sink)
    write_whole(path, sink.getvalue().to_pybytes())


def _arrow(store: Store, column: str = "vectors") -> Any:
    import pyarrow as pa

    flat = pa.array(np.ascontiguousarray(store.vectors).ravel())
    values = pa.FixedSizeListArray.from_arrays(flat, store.manifest.dimension)
    return pa.table({"id": pa.array(store.ids, pa.string()), column: values})


def _to_faiss(store: Store, path: Path) -> None:
    faiss = _faiss()
    index = faiss.IndexFlatIP(store.manifest.dimension)
    for start in range(0, store.manifest.rows, BATCH):
        index.add(np.ascontiguousarray(store.vectors[start : start + BATCH], dtype=np.float32))
    write_whole(path, faiss.serialize_index(index).tobytes())
    _write_ids(store, path)


def _from_faiss(path: Path) -> NamedRows:
    from offsphere.data.vector_files import read_ids

    faiss = _faiss()
    try:
        index = faiss.deserialize_index(np.frombuffer(path.read_bytes(), np.uint8))
    except RuntimeError as error:
        raise DataError(f"{path} is no FAISS index") from error
    if not isinstance(index, faiss.IndexFlat):
        raise DataError(f"{path} is a {type(index).__name__}: only a flat index holds the vectors themselves")
    return index.reconstruct_n(0, index.ntotal), read_ids(path.with_suffix(".ids"))


def _to_qdrant(store: Store, folder: Path, name: str) -> None:
    client, models = _qdrant(folder)
    if client.collection_exists(name):
        client.close()
        raise DataError(f"{folder} has a collection {name!r} already: choose another name")
    parameters = models.VectorParams(size=store.manifest.dimension, distance=models.Distance.DOT)
    client.create_collection(name, vectors_config=parameters)
    ids = store.ids
    for start in range(0, store.manifest.rows, BATCH):
        rows = np.asarray(store.vectors[start : start + BATCH], dtype=np.float32)
        points = [
            models.PointStruct(id=start + place, vector=row.tolist(), payload={"id": ids[start + place]})
            for place, row in enumerate(rows)
        ]
        client.upsert(name, points)
    client.close()


def _from_qdrant(folder: Path, name: str) -> NamedRows:
    client, models = _qdrant(folder)
    try:
        if not client.collection_exists(name):
            raise DataError(f"{folder} has no collection {name!r}")
        parameters: Any = client.get_collection(name).config.params.vectors
        if parameters.distance == models.Distance.COSINE:
            raise DataError(
                f"the collection {name!r} is one for cosine: Qdrant normalised its vectors when they were stored, so "
                "their lengths are lost; import from where they came from"
            )
        rows, ids, offset = [], [], None
        while True:
            points, offset = client.scroll(name, limit=BATCH, offset=offset, with_vectors=True, with_payload=True)
            rows += [point.vector for point in points]
            ids += [str((point.payload or {}).get("id", point.id)) for point in points]
            if offset is None:
                return np.array(rows, np.float32), ids
    finally:
        client.close()


def _to_lancedb(store: Store, folder: Path, name: str) -> None:
    database = _lancedb(folder)
    if name in _tables(database):
        raise DataError(f"{folder} has a table {name!r} already: choose another name")
    database.create_table(name, _arrow(store, "vector"))


def _from_lancedb(folder: Path, name: str) -> NamedRows:
    database = _lancedb(folder)
    if name not in _tables(database):
        raise DataError(f"{folder} has no table {name!r}")
    table = database.open_table(name).to_arrow()
    if "vector" not in table.column_names:
        raise DataError(f"the table {name!r} has no column 'vector'")
    rows = table["vector"].combine_chunks()
    ids = [str(value) for value in table["id"].to_pylist()] if "id" in table.column_names else None
    return rows.flatten().to_numpy().reshape(len(rows), -1), ids


def _write_ids(store: Store, path: Path) -> None:
    write_whole(path.with_suffix(".ids"), "".join(f"{name}\n" for name in store.ids).encode())


def _place(target: str, rest: str) -> tuple[Path, str]:
    folder, colon, name = rest.rpartition(":")
    if not colon or not folder or not name:
        raise OffsphereError(f"cannot read {target!r}: write {target.partition(':')[0]}:FOLDER:NAME")
    return Path(folder), name


def _faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise MissingExtraError("faiss-cpu", "faiss") from error
    return faiss


def _qdrant(folder: Path) -> tuple[Any, Any]:
    try:
        from qdrant_client import QdrantClient, models
    except ImportError as error:
        raise MissingExtraError("qdrant-client", "qdrant") from error
    return QdrantClient(path=str(folder)), models


def _lancedb(folder: Path) -> Any:
    try:
        import lancedb
    except ImportError as error:
        raise MissingExtraError("lancedb", "lancedb") from error
    return lancedb.connect(str(folder))


def _tables(database: Any) -> list[str]:
    listed = database.list_tables() if hasattr(database, "list_tables") else database.table_names()
    return list(getattr(listed, "tables", listed))
