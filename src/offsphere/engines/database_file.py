"""A table in a file of a database: opened for reading until something is written; a file made for it goes with it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from offsphere.base.errors import DataError
from offsphere.base.local_paths import local_path
from offsphere.engines.collection import Collection
from offsphere.engines.databases import working_with
from offsphere.engines.target import Target


class DatabaseFileCollection(Collection):
    """A table in a file. A subclass says how the file is opened, and what a transaction is."""

    database = ""  # its name, for errors

    def __init__(self, where: Target, *, id_field: str | None = None, vector_name: str | None = None) -> None:
        self.path, self.name = local_path(where.location), where.name
        self.id_field, self.vector_name = id_field, vector_name
        self.connection: Any = None
        self._writable = False
        self._made_file = False

    @abstractmethod
    def connect(self, *, writable: bool) -> Any:
        """Open the file, for reading alone or for writing too."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Any]:
        """Begin a transaction of the connection, which ends with the block: kept, or undone after an error."""

    def there(self) -> bool:
        """Whether the file is there.

        Raises:
            DataError: It is a folder.
        """
        if self.path.is_dir():
            raise DataError(f"{self.path} is a folder, not a file of {self.database}")
        return self.path.is_file()

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """A connection that cannot write, or the one that writes where that is open already."""
        with self.working():
            if self.connection is None:
                self.connection = self.connect(writable=False)
            yield self.connection

    @contextmanager
    def writing(self) -> Iterator[Any]:
        """A transaction in a connection that writes; the file is made where there is none."""
        with self.working():
            if not self._writable:
                self.close()
                self._made_file = self._made_file or not self.path.exists()
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self.connection, self._writable = self.connect(writable=True), True
            with self.transaction():
                yield self.connection

    def working(self) -> AbstractContextManager[None]:
        """Turn whatever the database raises into one line."""
        return working_with(self.database, self.path)

    def remove_file_if_empty(self, *, tables: int) -> None:
        """Remove a file that was made for this collection, and holds no table any more."""
        if not tables and self._made_file:
            self.close()
            self.path.unlink(missing_ok=True)
            self._made_file = False

    def close(self) -> None:
        """Close the file, so that others can write to it."""
        if self.connection is not None:
            self.connection.close()
            self.connection, self._writable = None, False

    @property
    def table(self) -> str:
        """The table's name in SQL."""
        return quoted(self.name)

    def __repr__(self) -> str:
        """The file and the table."""
        return f"{self.path}, table {self.name!r}"


def quoted(name: str) -> str:
    """A name in SQL, whatever is in it.

    Example:
        >>> from offsphere.engines.database_file import quoted
        >>> print(quoted('my "old" docs'))
        "my ""old"" docs"
    """
    return '"' + name.replace('"', '""') + '"'
