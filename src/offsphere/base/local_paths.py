"""Paths that somebody typed. An address is none, and is refused before it is made one and its password is told.

``Path("postgresql://me:secret@host/db")`` is ``postgresql:/me:secret@host/db``, in which nobody sees an address.
"""

from __future__ import annotations

import re
from pathlib import Path

from offsphere.base.errors import DataError
from offsphere.base.passwords import hide_password

_ADDRESS = re.compile(r"([A-Za-z][\w+.-]+):/+")  # two letters or more: C:/ is a drive


def local_path(typed: str | Path) -> Path:
    """The path of a file or folder that somebody typed, there already or not.

    Args:
        typed: The text, or the path that was made of one.

    Raises:
        DataError: It is an address in the network, or has a password in it.

    Example:
        >>> from offsphere.base.errors import DataError
        >>> from offsphere.base.local_paths import local_path
        >>> local_path("vectors/documents.npy").name
        'documents.npy'
        >>> try:
        ...     local_path("postgresql://me:secret@host/db:docs")
        ... except DataError as error:
        ...     print(str(error).partition(":docs")[0])
        'postgresql://me:***@host/db
    """
    text, path = str(typed), Path(typed)
    secret = "?" not in text and hide_password(text) != text  # what follows a question mark are settings of data
    if (_ADDRESS.match(text) or secret) and not path_exists(path):
        address = hide_password(_ADDRESS.sub(r"\1://", text, count=1))
        raise DataError(
            f"{address!r} is an address, no file or folder: write a collection as ENGINE:PLACE:NAME, such as "
            "postgres:DSN:TABLE or qdrant:URL:COLLECTION"
        )
    return path


def path_exists(path: Path) -> bool:
    """Whether there is such a file or folder; what can be no name of one is none."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
