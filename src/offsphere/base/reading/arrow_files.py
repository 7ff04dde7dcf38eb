"""Arrow files, of which the ``datasets`` package maps tables: whoever maps one believes every offset in it."""

from __future__ import annotations

from pathlib import Path

from offsphere.base.reading.file_access import open_file, reading


def check_arrow(path: Path) -> None:
    """Check a stream of record batches: all offsets lead into the file, and texts are texts.

    The batches are mapped one after the other, and of large columns only the offsets are looked at.

    Args:
        path: The file.

    Raises:
        DataError: It is no such file, or an offset in it leads out of its numbers.
    """
    import pyarrow as pa

    open_file(path).close()
    with reading(path, "an Arrow file"), pa.memory_map(str(path)) as mapped, pa.ipc.open_stream(mapped) as batches:
        for batch in batches:
            batch.validate(full=True)
