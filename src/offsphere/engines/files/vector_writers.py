"""Files of vectors that a store is exported to: .npy, .npz, .parquet, .safetensors.

Each is written a block at a time, so that the vectors are never in memory as a whole, and gets the same bytes whenever
it is written from the same store.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsphere.base.errors import OffsphereError
from offsphere.base.files import whole_file
from offsphere.base.npy_writing import write_blocks
from offsphere.data.store import Store
from offsphere.engines.engine import BATCH
from offsphere.engines.files.store_parts import arrow_batches, blocks_of
from offsphere.engines.index_file import file_with_ids

MOST_ID_BYTES = 1 << 31  # of all ids in an .npz archive, where each takes as much room as the longest
_SAFETENSORS = {"float16": "F16", "float32": "F32"}


def write_npy_file(store: Store, path: Path) -> None:
    """Write the vectors as a .npy file, the ids beside it."""
    with file_with_ids(path) as stream:
        stream.ids = store.ids
        write_blocks(stream, blocks_of(store), store.vectors.shape, store.manifest.dtype)


def write_npz_file(store: Store, path: Path) -> None:
    """Write the vectors and the ids as two arrays of an archive."""
    ids = store.ids
    kind = _id_type(ids, path)
    with whole_file(path) as stream, zipfile.ZipFile(stream, "w") as archive:
        _write_member(archive, "vectors", blocks_of(store), store.vectors.shape, store.manifest.dtype)
        _write_member(archive, "ids", _text_blocks(ids, kind), (len(ids),), kind)


def write_parquet_file(store: Store, path: Path) -> None:
    """Write the ids and the vectors as two columns, whose pages carry checksums."""
    import pyarrow.parquet as pq

    batches = arrow_batches(store)
    options = {"write_page_checksum": True, "use_dictionary": False}  # numbers and ids hardly repeat
    with whole_file(path) as stream, pq.ParquetWriter(stream, batches.schema, **options) as writer:
        for batch in batches:
            writer.write_batch(batch)


def write_safetensors_file(store: Store, path: Path) -> None:
    """Write the vectors as a tensor, the ids beside it.

    The format is a length, a JSON object and the numbers (https://huggingface.co/docs/safetensors, "Format"); the
    package of that name takes a whole tensor only.
    """
    rows, width = store.vectors.shape
    size = rows * width * np.dtype(store.manifest.dtype).itemsize
    entry = {"dtype": _SAFETENSORS[store.manifest.dtype], "shape": [rows, width], "data_offsets": [0, size]}
    header = json.dumps({"vectors": entry}, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)  # so that the numbers are aligned
    with file_with_ids(path) as stream:
        stream.ids = store.ids
        stream.write(len(header).to_bytes(8, "little") + header)
        for block in blocks_of(store):
            stream.write(np.ascontiguousarray(block).tobytes())


def _write_member(
    archive: zipfile.ZipFile, name: str, blocks: Iterable[NDArray[Any]], shape: tuple[int, ...], kind: Any
) -> None:
    """Write an array into an archive; its member bears no date, as those of numpy."""
    with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
        write_blocks(member, blocks, shape, kind)


def _id_type(ids: Sequence[str], path: Path) -> np.dtype[Any]:
    """The numpy type of texts as long as the longest id; an error where it would change one, or has no room."""
    for row, name in enumerate(ids):
        if name.endswith("\0"):  # numpy takes them for padding
            raise OffsphereError(f"cannot write {path}: the id in row {row} ends with a zero byte: export to .parquet")
    kind = np.dtype(("U", max([1, *map(len, ids)])))
    if kind.itemsize * len(ids) > MOST_ID_BYTES:
        raise OffsphereError(
            f"cannot write {path}: an id has {kind.itemsize // 4:,} characters, and in an archive each takes as much "
            "room: export to .parquet"
        )
    return kind


def _text_blocks(ids: Sequence[str], kind: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    """The ids as arrays, so many at a time."""
    for start in range(0, len(ids), BATCH):
        yield np.array(ids[start : start + BATCH], kind)


WRITERS: Mapping[str, Callable[[Store, Path], None]] = MappingProxyType(
    {
        ".npy": write_npy_file,
        ".npz": write_npz_file,
        ".parquet": write_parquet_file,
        ".safetensors": write_safetensors_file,
    }
)
