"""One collection of vectors in an engine, whatever the engine: made, filled, asked and read back by the same words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass
from typing import Literal, NamedTuple, Self, get_args

from offsphere.base.arrays import Array, Rows, Vectors
from offsphere.base.errors import DataError, OffsphereError
from offsphere.base.known_names import known_name
from offsphere.engines.metric import Metric

IndexKind = Literal["exact", "graph", "lists"]  # every vector compared; HNSW; inverted lists
NumberForm = Literal["float32", "float16", "int8", "binary"]


def index_kind(name: str) -> str:
    """An index kind that somebody typed."""
    return known_name("index", name, get_args(IndexKind))


def stored_form(name: str) -> str:
    """A stored form that somebody typed."""
    return known_name("stored form", name, get_args(NumberForm))


@dataclass(frozen=True, slots=True)
class Layout:
    """What a collection is made for."""

    dimension: int
    metric: Metric
    index: IndexKind = "exact"
    stored: NumberForm = "float32"
    rows: int = 0  # that will come, for engines that want to know
    as_given: bool = True  # whether vectors come as a model gave them, and not as an export makes them for a scorer


@dataclass(frozen=True, slots=True)
class CollectionFacts:
    """What an engine says of a collection that is there."""

    dimension: int
    metric: Metric | None  # none where it is chosen with each query, or is another than these
    rows: int
    index: str  # in the engine's words
    stored: str = "float32"  # in the engine's words
    _: KW_ONLY
    normalized: bool = False  # whether the engine threw lengths away when it stored the vectors
    unfinished: bool = False  # whether an export of ours was killed, or is still writing, and its mark tells so
    other_metric: str = ""  # in the engine's words, where it ranks by one that we do not have
    as_given: bool = True  # whether vectors are as a model gave them; false where a note of ours says otherwise


class NoMetricError(OffsphereError):
    """A collection was asked that has no metric of its own: each query chooses one."""


class NoIdsError(DataError):
    """A collection was asked whose documents have no ids to answer with."""


class Hits(NamedTuple):
    """What an engine answered: for each query ids, best first, and scores as it returned them; fewer than k is told."""

    ids: list[list[str]]
    scores: list[Array]


class NewRows(NamedTuple):
    """Vectors to be added, under ids that are not there yet."""

    ids: Sequence[str]
    rows: Rows


class NamedRows(NamedTuple):
    """Vectors that were read, and their ids where they have some."""

    vectors: Vectors
    ids: Sequence[str] | None


class Collection(AbstractContextManager["Collection"], ABC):
    """A collection, there or to be made. Open it with ``with``; it is closed then.

    An engine's file has one class of this kind. Whatever its package raises becomes an OffsphereError, one line,
    without a password.
    """

    index_kinds: tuple[IndexKind, ...] = ("exact",)  # the first is what an export takes where nobody says
    stored_forms: tuple[NumberForm, ...] = ("float32",)
    resumable: bool = True  # whether vectors are kept as they are added; a file appears as a whole, in ``finish``
    read_only: bool = False  # whether it is only looked at: a copy is opened where a package writes to what it opens
    blocks_at_once: int = 1  # that are added in one go, which a kill undoes
    largest_effort: int | None = None  # of a graph; more is the same search

    @abstractmethod
    def facts(self) -> CollectionFacts | None:
        """What the engine says of the collection; nothing where there is none. Reading never writes."""

    def check_packages(self) -> None:
        """See whether what answers queries is installed, where all else goes without it.

        Raises:
            MissingExtraError: It is not.
        """
        return

    def check(self, layout: Layout, ids: Sequence[str]) -> None:  # noqa: ARG002  # for those that cannot hold all
        """See whether the engine can hold such a collection under these ids, before anything is made or replaced.

        Raises:
            OffsphereError: It cannot.
        """
        return

    @abstractmethod
    def create(self, layout: Layout) -> None:
        """Make the collection, which is not there yet."""

    @abstractmethod
    def add(self, ids: Sequence[str], rows: Rows) -> None:
        """Add vectors whose ids are not there yet."""

    def add_blocks(self, blocks: Iterable[NewRows]) -> None:
        """Add some blocks in one go; each is made when it is asked for, and let go of then."""
        for block in blocks:
            self.add(block.ids, block.rows)
            del block  # while the next is made

    def discard(self, ids: Sequence[str]) -> None:  # noqa: ARG002  # for those that can
        """Remove the vectors of these ids, where they are there: a batch that was being added when a kill came."""
        raise OffsphereError(f"{self!r} cannot take up an export that was interrupted: run it again with --replace")

    def checksum(self) -> str:
        """The checksum of the file that it is, and of those beside it; empty where it is no file."""
        return ""

    def finish(self) -> None:
        """Build the index, and see to it that everything is kept; called once after the last batch."""
        return

    @abstractmethod
    def search(self, queries: Rows, k: int, effort: int | None = None) -> Hits:
        """Find the k best of each query; ``effort`` is how many candidates a graph looks at (ef), or lists (nprobe)."""

    def bare_search(self, queries: Rows, k: int) -> Hits:
        """Find what somebody is given who sets nothing but k: no effort, k as it is, and a refusal is told.

        Of an engine for which ``search`` sets nothing by itself, it is that.

        Raises:
            OffsphereError: The engine refuses.
        """
        return self.search(queries, k)

    def read(self) -> NamedRows:
        """Read all vectors and ids back. Reading never writes."""
        raise OffsphereError(f"the vectors of {self!r} cannot be read back")

    @abstractmethod
    def remove(self) -> None:
        """Remove the collection and all that is in it; nothing happens where there is none."""

    @abstractmethod
    def snippet(self, layout: Layout, k: int, effort: int | None = None) -> str:
        """The Python that asks the collection, for whoever deploys it.

        It is run with ``query``, a float32 array of one lowered query vector, and leaves ``hits``: a list of pairs of
        an id and the score as the engine returns it.
        """

    def close(self) -> None:
        """Let go of files and connections."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
