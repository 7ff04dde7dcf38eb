"""The footer of a parquet file, read as the parquet library reads it, and refused where that would end the process."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from offsphere.base.errors import DataError
from offsphere.base.reading.parquet_footer import column_chunks


def written(path, compression, version):
    rows = 1_000
    table = pa.table(
        {
            "id": [f"row {row}" for row in range(rows)],
            "vector": pa.array([[float(row)] * 8 for row in range(rows)], pa.list_(pa.float32())),
            "flag": [row % 3 == 0 for row in range(rows)],
            "nested": [{"a": row, "b": {"c": str(row)}} for row in range(rows)],
        },
        metadata={"a note": "of somebody"},
    )
    pq.write_table(table, path, compression=compression, version=version, row_group_size=170, write_page_index=True)
    return path


@pytest.mark.parametrize("compression", ["none", "zstd"])
@pytest.mark.parametrize("version", ["1.0", "2.6"])
def test_the_footer_is_read_as_the_library_reads_it(tmp_path, compression, version):
    path = written(tmp_path / "t.parquet", compression, version)
    metadata = pq.read_metadata(path)
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    told = [group.column(number) for group in groups for number in range(group.num_columns)]
    assert len(groups) == 6
    assert [tuple(chunk) for chunk in column_chunks(path)] == [
        (
            chunk.path_in_schema.split(".")[0],
            chunk.num_values,
            chunk.total_uncompressed_size,
            chunk.total_compressed_size,
        )
        for chunk in told
    ]


def test_a_footer_that_is_cut_or_changed_is_read_or_refused(tmp_path):
    content = bytearray(written(tmp_path / "t.parquet", "zstd", "2.6").read_bytes())
    length = int.from_bytes(content[-8:-4], "little")
    said = []
    for place in range(len(content) - 8 - length, len(content), 7):
        path = tmp_path / "changed.parquet"
        path.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        try:
            column_chunks(path)
        except DataError as error:
            said.append(str(error))
    assert len(said) > 20
    assert set(said) == {f"{path} is damaged: its footer cannot be read"}
    path.write_bytes(b"PAR1")
    with pytest.raises(DataError, match="footer"):
        column_chunks(path)
