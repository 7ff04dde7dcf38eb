"""A collection that exists already, read where it lies: what it says of itself, its vectors and their ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from offsphere.base.arrays import Vectors
from offsphere.base.errors import DataError
from offsphere.engines.collection import Collection, CollectionFacts
from offsphere.engines.engine import Engine
from offsphere.engines.registry import ENGINES, engine_of
from offsphere.engines.shipping.export_record import changed_for
from offsphere.engines.target import Target


class LiveCollection(NamedTuple):
    """A collection that was read; nothing in it was changed.

    Attributes:
        engine: Whose it is.
        where: Where it is.
        facts: What the engine says of it.
        vectors: All that it holds.
        ids: Theirs, where they have some.
        fields: The names that it was opened with, where an engine has several fields.
    """

    engine: Engine
    where: Target
    facts: CollectionFacts
    vectors: Vectors
    ids: Sequence[str] | None
    fields: dict[str, str | None]

    @classmethod
    def read(cls, target: str, *, id_field: str | None = None, vector_name: str | None = None) -> LiveCollection:
        """Read a collection.

        Args:
            target: The engine and where in it, as ``offsphere export`` takes it.
            id_field: The field that has the ids, where it is not the engine's own.
            vector_name: The field, column or name of the vectors, where there are several.

        Raises:
            DataError: There is none, half of one, or an empty one.
            OffsphereError: The target or the engine cannot be reached.

        Example:
            >>> import tempfile
            >>> import numpy as np
            >>> import offsphere as osp
            >>> from offsphere.engines.deployed.live_collection import LiveCollection
            >>> rows = np.diag([3.0, 4.0, 5.0]).astype(np.float32)
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     _ = osp.export("dot", rows, f"faiss:{folder}/d.faiss", ids=["a", "b", "c"])
            ...     live = LiveCollection.read(f"faiss:{folder}/d.faiss")
            >>> str(live.facts.metric), list(live.ids or ()), live.vectors.shape
            ('inner product', ['a', 'b', 'c'], (3, 3))
        """
        engine, where = engine_of(target)
        fields = {"id_field": id_field, "vector_name": vector_name}
        with engine.at(where, read_only=True, **fields) as collection:
            facts = collection.facts()
            if facts is None:
                raise DataError(f"{where} does not exist: give a {engine.name} collection as {engine.form}")
            if facts.unfinished:
                raise DataError(f"{where} is unfinished: what wrote it was killed, or is still writing: write it again")
            if not facts.rows:
                raise DataError(f"{where} has no vectors")
            vectors, ids = collection.read()
        return cls(engine, where, facts, vectors, ids, fields)

    @property
    def made_for(self) -> str | None:
        """The scorer for which an export changed the vectors, empty where nobody says which; none where none did."""
        return changed_for(self.engine, self.where, self.facts.rows) or (None if self.facts.as_given else "")

    def open(self) -> Collection:
        """Open it again, to ask it and nothing else."""
        return self.engine.at(self.where, read_only=True, **self.fields)


def is_target(text: str) -> bool:
    """Whether a text names a collection of an engine that can be opened: by its prefix, or the ending of its file."""
    prefix, colon, _ = text.partition(":")
    opened = [engine for engine in ENGINES if engine.open is not None]
    return any(
        (colon and prefix == engine.prefix) or (engine.suffix and text.endswith(engine.suffix)) for engine in opened
    )
