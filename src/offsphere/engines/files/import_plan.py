"""What an import will store: checked before anything is written, and known again by its content."""

from __future__ import annotations

import hashlib
from collections import Counter

import numpy as np

from offsphere.base.arrays import Index, Vectors
from offsphere.base.digests import digest_of_texts
from offsphere.base.errors import DataError, VectorError
from offsphere.base.version import __version__
from offsphere.data.store import Manifest
from offsphere.engines.engine import BATCH


def plan_import(vectors: Vectors, ids: list[str], source: str, model: str, *, normalized: bool = False) -> Manifest:
    """Check vectors and ids, and say what the store will hold.

    The revision is a digest of the vectors as they will be stored: an import goes on only with what it began with,
    whatever became of the source in between.

    Args:
        vectors: Of shape (rows, dimensions); they are read once, a block at a time.
        ids: One for each.
        source: Where they come from, for errors.
        model: What made them.
        normalized: Whether the engine that they come from had thrown their lengths away.

    Returns:
        The manifest of the store.

    Raises:
        DataError: There are not as many ids as vectors, or an id repeats, is empty or cannot be stored.
        VectorError: There is no vector, or one is not finite.
    """
    rows, width = vectors.shape
    if not rows or not width:
        raise VectorError(f"{source} holds no vectors: it has {rows} rows of {width} dimensions")
    _check_ids(ids, rows, source)
    dtype = "float16" if vectors.dtype == np.float16 else "float32"
    return Manifest(
        model=model,
        revision=_content_digest(vectors, ids, dtype, source),
        dimension=width,
        rows=rows,
        dtype=dtype,
        side="document",
        prompt="",
        similarity=None,
        normalization_removed=[],
        normalization_kept=normalized,
        texts="",
        ids=digest_of_texts(ids),
        empty=0,
        version=__version__,
    )


def rows_by_block(rows: int) -> list[Index]:
    """The numbers of the rows that are read and stored at a time."""
    return [np.arange(start, min(start + BATCH, rows)) for start in range(0, rows, BATCH)]


def _check_ids(ids: list[str], rows: int, source: str) -> None:
    if len(ids) != rows:
        raise DataError(f"{source} has {rows} vectors but there are {len(ids)} ids: they must be as many")
    if len(set(ids)) < rows:
        name, times = Counter(ids).most_common(1)[0]
        raise DataError(f"{source}: the id {name!r} stands there {times} times: ids must not repeat")
    for row, name in enumerate(ids):
        if not name:
            raise DataError(f"{source}: the id in row {row} is empty: give it one")
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise DataError(f"{source}: the id in row {row} has a lone surrogate, half a character: mend it") from error


def _content_digest(vectors: Vectors, ids: list[str], dtype: str, source: str) -> str:
    """A digest of the vectors as they will be stored; an error where one is not finite then."""
    digest = hashlib.sha256(f"{vectors.shape} {dtype}".encode())
    for rows in rows_by_block(len(vectors)):
        with np.errstate(over="ignore"):
            block = np.ascontiguousarray(vectors[rows[0] : rows[-1] + 1], dtype)
        finite = np.isfinite(block).all(axis=1)
        if not finite.all():
            row = int(rows[np.flatnonzero(~finite)[0]])
            raise VectorError(
                f"{source}: the vector of {ids[row]!r} (row {row}) is not finite as {dtype}: encode that item again"
            )
        digest.update(block.data)
    return f"sha256:{digest.hexdigest()}"
