"""What consists of several files, or is written by somebody else's program, is marked while it is being written.

A kill leaves the mark, and who reads such a thing finds it: half of something is never taken for the whole.
"""

from __future__ import annotations

from pathlib import Path

from offsphere.base.files import write_whole
from offsphere.base.reading.file_access import is_there


def mark_unfinished(path: Path) -> None:
    """Mark a file or folder before its writing begins, where that goes on over several calls."""
    content = f"{path.name} is being written, or its writing was killed: write it again\n"
    write_whole(mark_beside(path), content.encode())


def mark_finished(path: Path) -> None:
    """Remove the mark, when all is written."""
    mark_beside(path).unlink(missing_ok=True)


def is_unfinished(path: Path) -> bool:
    """Tell whether the writing of a file or folder never came to its end."""
    return is_there(mark_beside(path))


def mark_beside(path: Path) -> Path:
    """The mark of a file or folder, whether it is there or not."""
    return path.parent / f".{path.name}.unfinished"
