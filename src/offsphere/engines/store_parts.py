"""What a store's vectors and ids become in a file, for whatever is written from a store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from offsphere.base.files import write_whole
from offsphere.data.store import Store


def arrow_table(store: Store, column: str = "vectors") -> Any:
    """Make an Arrow table of the ids and the vectors, those in a column of that name."""
    import pyarrow as pa

    flat = pa.array(np.ascontiguousarray(store.vectors).ravel())
    values = pa.FixedSizeListArray.from_arrays(flat, store.manifest.dimension)
    return pa.table({"id": pa.array(store.ids, pa.string()), column: values})


def write_ids(store: Store, path: Path) -> None:
    """Write the ids beside a file that has no room for them, a line each."""
    write_whole(path.with_suffix(".ids"), "".join(f"{name}\n" for name in store.ids).encode())
