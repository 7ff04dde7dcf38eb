"""Vector files whose directory does not fit their bytes: what fuzzing once got through."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from offsphere.base.errors import DataError, VectorError
from offsphere.data.list_columns import gather_lists
from offsphere.data.vector_files import read_vectors


def test_ids_are_not_lost_where_their_name_in_the_archive_was_damaged(tmp_path):
    path = tmp_path / "v.npz"
    np.savez(path, vectors=np.eye(3), ids=np.array(["a", "b", "c"]))
    assert read_vectors(path).ids == ["a", "b", "c"]
    content = path.read_bytes()
    listed = content.rindex(b"ids.npy")  # the last one stands in the list at the end, which has no checksum
    path.write_bytes(content[:listed] + b"hds.npy" + content[listed + 7 :])
    with pytest.raises(DataError, match=r"v\.npz is truncated or not a \.npz archive"):
        read_vectors(path)


def test_a_column_that_says_it_has_rows_and_has_none_is_damaged():
    with pytest.raises(VectorError, match="it says that it has 12 rows, and has none"):
        gather_lists(pa.list_(pa.float32(), 5), 12, lambda rows: iter(()), "v.parquet")
