"""Which of a folder's files is the one of a split."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from offsphere.base.errors import DataError, NoSuchSplitError

PREFERRED = ("test", "dev")  # of the splits there are, when nobody names one


def choose_split(folder: Path, files: Mapping[str, Path], split: str | None) -> str:
    """The split asked for; without one test, else dev, else the only one there is."""
    if split is not None:
        if split not in files:
            raise NoSuchSplitError(f"{folder} has no split {split!r}: there are {', '.join(files)}")
        return split
    preferred = next((name for name in PREFERRED if name in files), None)
    if preferred is None and len(files) > 1:
        raise DataError(f"{folder} has the splits {', '.join(files)}: choose one with --split")
    return preferred or next(iter(files))
