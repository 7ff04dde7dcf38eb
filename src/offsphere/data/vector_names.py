"""What the ids and the vectors of a file are called in it: columns of a table, arrays of an archive."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from offsphere.base.errors import DataError, VectorError

ID_NAMES = ("id", "_id", "ids")
VECTORS_NAME = "vectors"


class VectorNames(NamedTuple):
    """The names that somebody gave; without one the usual names are looked for."""

    ids: str | None = None
    vectors: str | None = None

    def id_name(self, listed: Sequence[str], path: Path) -> str | None:
        """The name of the ids among those of a file: the given one, else a usual one; nothing where there is none.

        Raises:
            DataError: The file has nothing of the given name.
        """
        if self.ids is None:
            return next((name for name in ID_NAMES if name in listed), None)
        return _given(self.ids, listed, path)

    def vectors_name(self, listed: Sequence[str], path: Path) -> str:
        """The name of the vectors: the given one, else ``vectors``, else the only one there is.

        Raises:
            DataError: The file has nothing of the given name.
            VectorError: Nobody says which of several they are.
        """
        if self.vectors is not None:
            return _given(self.vectors, listed, path)
        names = [name for name in listed if name not in ID_NAMES]
        if VECTORS_NAME in names:
            return VECTORS_NAME
        if len(names) != 1:
            raise VectorError(
                f"{path} holds {', '.join(names) or 'nothing'}: name the one with the vectors {VECTORS_NAME!r}, or say "
                "which it is with --vector-column"
            )
        return names[0]

    def refuse_ids(self, path: Path, kind: str) -> None:
        """Raise DataError where a name of ids was given for a kind of file that has none."""
        if self.ids is not None:
            raise DataError(f"{path} is {kind}, which has no field {self.ids!r}: give the ids in a file, with --ids")

    def refuse_any(self, path: Path, kind: str) -> None:
        """Raise DataError where a name was given for a kind of file that has no names."""
        self.refuse_ids(path, kind)
        if self.vectors is not None:
            raise DataError(f"{path} is {kind}, which has no column {self.vectors!r}: leave --vector-column out")


def _given(name: str, listed: Sequence[str], path: Path) -> str:
    """A name that was given, where the file has it."""
    if name not in listed:
        raise DataError(f"{path} has no column {name!r}: it has {', '.join(listed) or 'none'}")
    return name
