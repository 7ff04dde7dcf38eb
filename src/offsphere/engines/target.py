"""Where a collection is, as a user writes it: the engine, a file, folder or address, and a name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from offsphere.base.errors import OffsphereError

_PASSWORD = re.compile(r"(?<=://)([^/@:\s]*):(\S*)@")
_PASSWORD_WORD = re.compile(r"(?i)(password|api_?key|token)(\s*=\s*)('(?:[^'\\]|\\.)*'?|[^&\s]+)")


class Target(NamedTuple):
    """The engine's prefix, the file, folder or address, and the name of the collection there, if it has one.

    Example:
        >>> from offsphere.engines.target import Target
        >>> target = Target.of("qdrant:http://localhost:6333:docs", named=True)
        >>> target.location, target.name
        ('http://localhost:6333', 'docs')
        >>> str(Target.of("postgres:postgresql://me:secret@host/db:docs", named=True))
        'postgres:postgresql://me:***@host/db:docs'
    """

    engine: str
    location: str
    name: str

    @classmethod
    def of(cls, text: str, *, named: bool) -> Target:
        """Read a target; ``named`` says whether the engine's collections have names.

        Raises:
            OffsphereError: A part is missing.
        """
        engine, _, rest = text.partition(":")
        location, colon, name = rest.rpartition(":") if named else (rest, ":", "")
        if not location or not colon or (named and (not name or "/" in name or _is_port(location, name))):
            form = "FILE" if not named else "FOLDER-OR-ADDRESS:NAME"
            raise OffsphereError(f"cannot read the target {hide_password(text)!r}: write {engine}:{form}")
        return cls(engine, location, name)

    @property
    def is_address(self) -> bool:
        """Whether the location is an address in the network, and no file or folder."""
        return "://" in self.location

    def beside(self, word: str) -> Target:
        """A collection beside this one, with a word more in its name or that of its file.

        Example:
            >>> from offsphere.engines.target import Target
            >>> str(Target("faiss", "docs.faiss", "").beside("probe"))
            'faiss:docs.probe.faiss'
            >>> str(Target("duckdb", "x.db", "docs").beside("probe"))
            'duckdb:x.db:docs_probe'
        """
        if self.name:
            return self._replace(name=f"{self.name}_{word}")
        path = Path(self.location)
        return self._replace(location=str(path.with_name(f"{path.stem}.{word}{path.suffix}")))

    def __str__(self) -> str:
        """The target as it was written, without its password."""
        parts = [self.engine, self.location, self.name] if self.name else [self.engine, self.location]
        return hide_password(":".join(parts))

    def __repr__(self) -> str:
        """The same, since a representation ends in messages."""
        return str(self)


def _is_port(location: str, name: str) -> bool:
    """Whether what stands behind the last colon is the port of an address, so that the name is missing."""
    host = location.partition("://")[2]
    return name.isdigit() and bool(host) and not {":", "/"} & set(host)


def hide_password(text: str) -> str:
    """Replace what may be a password in an address by stars; no message, log or file has it.

    Example:
        >>> from offsphere.engines.target import hide_password
        >>> hide_password("cannot reach postgresql://me:p@ss@host/db?password=x&a=1")
        'cannot reach postgresql://me:***@host/db?password=***&a=1'
        >>> hide_password("host=h password = 'my secret' sslpassword=x dbname=db")
        'host=h password = *** sslpassword=*** dbname=db'
    """
    return _PASSWORD_WORD.sub(r"\1\2***", _PASSWORD.sub(r"\1:***@", text))
