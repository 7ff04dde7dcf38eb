"""Where a collection is, as a user writes it: the engine, a file, folder or address, and a name."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from offsphere.base.errors import OffsphereError
from offsphere.base.passwords import hide_password, without_password


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

    @property
    def public_location(self) -> str:
        """The file, folder or address without a password, for code that is printed and kept."""
        return without_password(self.location) if self.is_address else self.location

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
        parts = [self.engine, hide_password(self.location), *([self.name] if self.name else [])]
        return ":".join(parts)

    def __repr__(self) -> str:
        """The target without its password, too, since a representation ends in messages."""
        return str(self)


def _is_port(location: str, name: str) -> bool:
    """Whether what stands behind the last colon is the port of an address, so that the name is missing."""
    host = location.partition("://")[2]
    return name.isdigit() and bool(host) and not {":", "/"} & set(host)
