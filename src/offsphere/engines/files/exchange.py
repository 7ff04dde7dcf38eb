"""Stores to and from other people's formats: vector files, and whatever an engine of the registry reads and writes.

Lengths travel unharmed. Where an engine would normalise (Qdrant's cosine collections do so when a vector is stored),
export uses inner product; what has lost its lengths there already is imported, and the store knows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from offsphere.base.arrays import Vectors
from offsphere.base.errors import DataError, OffsphereError
from offsphere.base.interruption import told_when_interrupted
from offsphere.base.local_paths import local_path
from offsphere.base.passwords import hide_password
from offsphere.base.reading.file_access import open_file
from offsphere.data.store import Manifest, Store, is_store, open_store, read_manifest
from offsphere.data.store_writer import PROGRESS, StoreWriter, locked
from offsphere.data.vector_files import SUFFIXES, TABLES, read_vectors
from offsphere.data.vector_names import VectorNames
from offsphere.engines.collection import Layout, NamedRows
from offsphere.engines.deployed.live_collection import LiveCollection, is_target
from offsphere.engines.engine import Engine
from offsphere.engines.files.import_plan import plan_import, rows_by_block
from offsphere.engines.files.vector_writers import WRITERS
from offsphere.engines.metric import Metric
from offsphere.engines.registry import ENGINES, engine_of
from offsphere.engines.shipping.corpus import Corpus
from offsphere.engines.shipping.filling import Filling
from offsphere.engines.shipping.serving import Serving
from offsphere.engines.target import Target
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import DOT


def export_store(store: Store, target: str) -> None:
    """Write a store's vectors and ids to a file or into a collection, by the target's ending or prefix.

    Args:
        store: what to write.
        target: a file such as ``vectors.parquet``, or a collection such as ``qdrant:FOLDER:COLLECTION``.

    Raises:
        OffsphereError: where the target is of no known kind.
        DataError: where a collection of that name is there already.
    """
    if is_target(target):
        _fill(store, *engine_of(target))
        return
    path = local_path(target)
    if path.suffix not in WRITERS:
        raise OffsphereError(f"cannot export to {target!r}: give {_known_locations()}")
    with told_when_interrupted(lambda: f"nothing was written to {target}: the same command begins it anew"):
        WRITERS[path.suffix](store, path)


def import_vectors(
    source: str,
    folder: Path,
    *,
    model: str = "imported",
    ids: Sequence[str] | None = None,
    id_field: str | None = None,
    vector_column: str | None = None,
    replace: bool = False,
) -> Store:
    """Make a store from vectors that exist already.

    An import that was interrupted goes on where it was, if the source still holds the same vectors and ids. Where a
    store holds them already, nothing is done.

    Args:
        source: a file or a collection, as for ``export_store``, or a table (.csv, .tsv).
        folder: the store to make.
        model: what made the vectors.
        ids: of the vectors in their order; without them those of the source, else their numbers.
        id_field: what the ids are called in a file or collection, where it is not the usual name.
        vector_column: what the vectors are called there, where there are several candidates.
        replace: whether to throw away other vectors that the store holds.

    Returns:
        The store; ``normalization_kept`` in its manifest says that an engine had thrown the lengths away.

    Raises:
        DataError: where the source does not exist, cannot be read, or does not have as many ids as vectors; where ids
            repeat; where the store holds other vectors.
        VectorError: where a vector is not finite, or has no dimensions.
        OffsphereError: where the source is of no known kind.
    """
    folder = local_path(folder)
    (vectors, source_ids), normalized = _read_source(source, VectorNames(id_field, vector_column))
    names = list(ids or source_ids or map(str, range(len(vectors))))
    plan = plan_import(vectors, names, hide_password(source), model, normalized=normalized)
    with locked(folder):
        return _stored_already(folder, plan, replace=replace) or _write_store(
            folder, plan, vectors, names, replace=replace
        )


def _stored_already(folder: Path, plan: Manifest, *, replace: bool) -> Store | None:
    """The store that holds what is planned; nothing where there is none, an unfinished one, or one to replace.

    Raises:
        DataError: where the store holds something else, and nobody said that it may be replaced.
    """
    if not is_store(folder) or (folder / PROGRESS).exists():
        return None
    try:
        stored = read_manifest(folder)
        if all(getattr(stored, name) == getattr(plan, name) for name in ("model", "revision", "dtype", "ids")):
            return open_store(folder)
        what = f"{stored.rows:,} x {stored.dimension} of {stored.model}"
    except DataError as error:
        what = f"a store that cannot be read ({error})"
    if not replace:
        raise DataError(f"{folder} holds {what}: choose another folder, or replace it with --replace")
    return None


def _write_store(folder: Path, plan: Manifest, vectors: Vectors, names: list[str], *, replace: bool) -> Store:
    """Write vectors and ids as a store, from where an earlier attempt was interrupted."""
    blocks = rows_by_block(len(vectors))
    try:
        writer = StoreWriter(folder, plan, len(blocks))
    except DataError as error:  # it is being filled with something else
        if not replace:
            raise DataError(f"{error}, or import with --replace") from error
        (folder / PROGRESS).unlink()
        writer = StoreWriter(folder, plan, len(blocks))
    with writer.told_what_is_safe():
        for rows in blocks[writer.done :]:
            writer.write(rows, np.asarray(vectors[rows[0] : rows[-1] + 1]))
        unknown = np.full(len(vectors), -1, np.int32)
        return writer.finish(names, unknown, unknown, np.zeros(len(names), np.bool_))


def _fill(store: Store, engine: Engine, where: Target) -> None:
    """Put the vectors of a store into a new collection as they are, lengths kept."""
    metric = next(
        metric for metric in (Metric.INNER_PRODUCT, Metric.EUCLIDEAN, Metric.COSINE) if metric in engine.metrics
    )
    serving = Serving(scorer=Scorer(DOT), metric=metric, lowered=False)
    with engine.at(where) as collection:
        layout = Layout(store.manifest.dimension, metric, collection.index_kinds[0], rows=store.manifest.rows)
        filling = Filling(collection, serving, Corpus(store.vectors, store.ids), layout, str(where))
        filling.run(replace=not collection.resumable)  # a file is replaced as a whole, as files of vectors are


def _read_source(source: str, names: VectorNames) -> tuple[NamedRows, bool]:
    """Read vectors, and ids where there are some; and whether an engine had normalised them."""
    if is_target(source):
        live = LiveCollection.read(source, id_field=names.ids, vector_name=names.vectors)
        return NamedRows(live.vectors, live.ids), live.facts.normalized
    path = local_path(source)
    open_file(path).close()  # whose errors say more than those of a format
    if path.suffix not in (*SUFFIXES, *TABLES):
        raise OffsphereError(f"cannot import {source!r}: give {', '.join(TABLES)}, {_known_locations()}")
    file = read_vectors(path, names=names)
    return NamedRows(file.vectors, file.ids), False


def _known_locations() -> str:
    """List all files and collections that can be written and read."""
    opened = [engine for engine in ENGINES if engine.open is not None]
    *first, last = [*WRITERS, *(engine.suffix or engine.form for engine in opened)]
    return f"{', '.join(first)} or {last}"
