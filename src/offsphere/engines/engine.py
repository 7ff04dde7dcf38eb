"""What the library knows of a search engine: its words for each metric, and how vectors travel to it and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from offsphere.base.arrays import Vectors
from offsphere.data.store import Store

NamedRows = tuple[Vectors, Sequence[str] | None]

BATCH = 4096  # vectors that are handed to an engine at a time


class MetricWords(NamedTuple):
    """What to set in the engine for each metric that every engine has, in the engine's own words."""

    cosine: str
    inner_product: str
    euclidean: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """How a store travels to an engine's files and back, lengths unharmed.

    A location is a file, recognised by its suffix (``.faiss``), or a folder and a name behind the engine's prefix
    (``qdrant:FOLDER:COLLECTION``). ``write`` and ``read`` get the file, or the folder, and the name or nothing.
    """

    location: str
    write: Callable[[Store, Path, str], None]
    read: Callable[[Path, str], NamedRows]

    @property
    def suffix(self) -> str:
        """The ending of the engine's files; empty where it has folders."""
        return self.location if self.location.startswith(".") else ""

    @property
    def prefix(self) -> str:
        """What stands before a folder of the engine; empty where it has files."""
        return "" if self.suffix else self.location.partition(":")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A search engine: its name, its words for each metric and, where vectors can be exchanged, how."""

    name: str
    words: MetricWords
    exchange: Exchange | None = None
