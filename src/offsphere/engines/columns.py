"""Which column of somebody's table holds the vectors, and which the ids."""

from __future__ import annotations

from collections.abc import Sequence

from offsphere.base.errors import DataError
from offsphere.data.vector_names import ID_NAMES


def vector_column(candidates: Sequence[str], asked: str | None, usual: str, where: str) -> str:
    """Choose the column of vectors: the one that was asked for, the only one there is, or the one of the usual name.

    Args:
        candidates: Columns that hold vectors.
        asked: The one that a user named.
        usual: What an export of ours calls it.
        where: The table, for errors.

    Raises:
        DataError: There is none, or nobody says which of several.

    Example:
        >>> from offsphere.engines.columns import vector_column
        >>> vector_column(["body_embedding"], None, "vector", "docs")
        'body_embedding'
    """
    listed = ", ".join(candidates)
    if asked is not None:
        if asked not in candidates:
            raise DataError(f"{where} has no column of vectors {asked!r}: it has {listed or 'none'}")
        return asked
    if not candidates:
        raise DataError(f"{where} has no column of vectors")
    if len(candidates) > 1 and usual not in candidates:
        raise DataError(f"{where} has several columns of vectors, {listed}: say which by --vector-column")
    return usual if usual in candidates else candidates[0]


def id_column(columns: Sequence[str], asked: str | None, keys: Sequence[str], where: str) -> str | None:
    """Choose the column of ids: the one that was asked for, one called id, or the key of the table; none without.

    Args:
        columns: All columns but that of the vectors.
        asked: The one that a user named.
        keys: The columns of the primary key.
        where: The table, for errors.

    Raises:
        DataError: There is no such column.
    """
    if asked is not None:
        if asked not in columns:
            raise DataError(f"{where} has no column {asked!r}: it has {', '.join(columns) or 'no other'}")
        return asked
    named = [name for name in ID_NAMES if name in columns]
    if named:
        return named[0]
    return keys[0] if len(keys) == 1 else None
