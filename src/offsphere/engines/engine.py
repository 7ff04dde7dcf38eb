"""What the library knows of a search engine: its metrics, how a collection there is reached, what it cannot hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from offsphere.base.errors import OffsphereError
from offsphere.base.short_repr import short_repr
from offsphere.engines.collection import Collection
from offsphere.engines.metric import Metric, MetricFacts
from offsphere.engines.target import Target

BATCH = 4096  # vectors that are handed to an engine at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A search engine.

    Args:
        name: As people write it.
        metrics: What it makes of each metric that it has.
        prefix: Stands before a target; empty for engines that we only know the settings of.
        location: How a target is written, after the prefix.
        named: Whether a collection has a name beside its file, folder or address.
        suffix: The ending of its files, by which one is known without the prefix.
        open: Opens a collection at a target, which need not be there yet; where it has fields or columns it takes
            ``id_field`` and ``vector_name``, the names of those that hold the ids and the vectors.
        largest_k: The most documents that a query gets; nothing where there is no such limit.
        notes: What bites, a sentence each.
        tested: Whether the settings were tried on the engine itself, or taken from its documentation.
    """

    name: str
    metrics: Mapping[Metric, MetricFacts]
    prefix: str = ""
    location: str = ""
    named: bool = True
    suffix: str = ""
    open: Callable[..., Collection] | None = None
    largest_k: int | None = None
    notes: tuple[str, ...] = ()
    tested: bool = True

    __repr__ = short_repr

    def at(self, where: Target, *, read_only: bool = False, **fields: str | None) -> Collection:
        """Open a collection, which need not be there yet.

        Args:
            where: Its target.
            read_only: Whether it is only looked at and asked, so that no byte of it may change.
            fields: ``id_field`` and ``vector_name``, where somebody gave them.

        Raises:
            OffsphereError: Only the settings of this engine are known.
        """
        opener = self.open
        if opener is None:
            raise OffsphereError(f"{self.name}: only its settings are known here, no collection of it can be opened")
        collection = opener(where, **{name: value for name, value in fields.items() if value is not None})
        collection.read_only = read_only
        return collection

    @property
    def example(self) -> Target:
        """A target as somebody might write it."""
        first = self.location.partition(":")[0]
        known = {"FILE": f"documents{self.suffix or f'.{self.prefix}'}", "FILE-OR-URL": "documents.db"}
        location = {**known, "DSN": "postgresql://localhost/search"}.get(first, f"{self.prefix}-folder")
        return Target(self.prefix, location, "documents" if self.named else "")

    @property
    def form(self) -> str:
        """How a target of this engine is written."""
        return f"{self.prefix}:{self.location}"
