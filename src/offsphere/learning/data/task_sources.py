"""What a task is learned by, its vectors or its texts: both answer the same questions of training data."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from offsphere.base.arrays import Flags, Index, Vectors
from offsphere.base.errors import DataError
from offsphere.data.items import Item
from offsphere.data.task import EmbeddedTask, Task, TaskVectors, items_of
from offsphere.geometry.positives import Positives, positives_of
from offsphere.vectors.contents import keys_of

Contents = TypeVar("Contents")  # of a side: an array of vectors, or a sequence of texts


class NumberedSides(NamedTuple, Generic[Contents]):
    """Both sides of a task, and a number for each row, the same for rows that are the same."""

    queries: Contents
    documents: Contents
    query_keys: Index
    document_keys: Index


class TaskSource(Protocol[Contents]):
    """A task, and the contents of its rows."""

    @property
    def task(self) -> Task:
        """The task whose contents these are."""
        ...

    @property
    def kept_back(self) -> str:
        """The words that follow "30 % of the queries" where these are kept for judging."""
        ...

    @property
    def no_pairs(self) -> str:
        """Why there may be no pair to learn from."""
        ...

    @property
    def without_direction(self) -> int:
        """How many positives cannot be learned from, since a vector of theirs has length zero."""
        ...

    def check(self, others: Sequence[Self]) -> None:
        """Refuse a task without contents, and others whose contents do not fit it."""
        ...

    def only(self, rows: Index) -> Self:
        """The source with some units of the task."""
        ...

    def unit_keys(self) -> Sequence[Hashable]:
        """A value for each unit, the same for units of the same contents under whatever id."""
        ...

    def document_contents(self, rows: Index) -> Sequence[Hashable]:
        """A value for each of some rows of the second side, the same for the same contents."""
        ...

    def positives(self) -> tuple[Index, Index]:
        """Rows of both sides of every positive pair that can be learned from."""
        ...

    def wanted_by(self, others: Sequence[Self]) -> Flags | None:
        """Which documents are relevant to some unit of these sources; nothing where that cannot be told."""
        ...

    def number_sides(self, others: Sequence[Self]) -> list[NumberedSides[Contents]]:
        """Number the sides of this source and of others that are learned from with it, the same contents alike."""
        ...

    def contents(self) -> list[bytes]:
        """Everything that a result depends on as bytes, for a digest."""
        ...


@dataclass(frozen=True, eq=False)  # without slots, since some of its values are computed once
class VectorSource:
    """A task by its vectors."""

    task: Task
    vectors: TaskVectors

    kept_back = "were kept from training, and the values are of those"
    no_pairs = "no query has a relevant document, all have length zero, or all are judged by or held out too"

    @property
    def embedded(self) -> EmbeddedTask:
        """The task with its vectors, as most functions take them."""
        return self.task, self.vectors

    @cached_property
    def _positives(self) -> Positives:
        """The positive pairs with their lengths, computed once."""
        return positives_of(self.task, self.vectors)

    @cached_property
    def document_keys(self) -> Index:
        """A number for each document by its vector, computed once: there may be many."""
        return keys_of(self.vectors.sides[1])

    @property
    def without_direction(self) -> int:
        """How many positives have a vector of length zero."""
        return self._positives.without_direction

    def check(self, others: Sequence[VectorSource]) -> None:
        """Refuse vectors that are not those of the task, and others of other dimensions."""
        self.task.check(self.vectors)
        for source in others:
            if source.vectors.widths != self.vectors.widths:
                raise DataError(
                    f"the vectors of {source.task.name} have {_written(source.vectors.widths)} dimensions, those of "
                    f"{self.task.name} {_written(self.vectors.widths)}: use one model for all"
                )

    def only(self, rows: Index) -> VectorSource:
        """Some queries (or pairs) of the task, with their vectors."""
        return VectorSource(self.task.only(rows), self.vectors.only(rows))

    def unit_keys(self) -> list[int]:
        """A number for each unit by its vectors."""
        keys: list[int] = self.vectors.unit_keys().tolist()
        return keys

    def document_contents(self, rows: Index) -> list[int]:
        """A number for each of some documents by its vector."""
        keys: list[int] = keys_of(self.vectors.sides[1][rows]).tolist()
        return keys

    def positives(self) -> tuple[Index, Index]:
        """The positive pairs in which both vectors have a direction."""
        return self._positives.left, self._positives.right

    def wanted_by(self, others: Sequence[VectorSource]) -> Flags | None:
        """Which documents are relevant to some unit of sources of the same corpus, by row.

        A corpus of vectors is never cut, so rows will do, and many vectors need not be hashed for it.
        """
        own = self.task.relevant_to_any()
        known = [source.task.relevant_to_any() for source in others]
        if own is None or any(flags is None or len(flags) != len(own) for flags in known):
            return None
        wanted: Flags = np.any([flags for flags in known if flags is not None], axis=0)
        return wanted

    def number_sides(self, others: Sequence[VectorSource]) -> list[NumberedSides[Vectors]]:
        """Number rows by the contents of their vectors.

        A task of the same name is of the same corpus: there a document is known by its id, however it is encoded.
        """
        names: dict[str, int] = {}
        numbered = []
        for source in (self, *others):
            queries, documents = source.vectors.sides
            keys = source.document_keys.copy()
            if source.task.name == self.task.name:
                for row, name in enumerate(source.task.sides[1].ids or ()):
                    keys[row] = names.setdefault(name, int(keys[row]))
            numbered.append(NumberedSides(queries, documents, keys_of(queries), keys))
        return numbered

    def contents(self) -> list[bytes]:
        """The vectors of both sides, and all that the task is."""
        return [keys_of(self.vectors.sides[0]).tobytes(), self.document_keys.tobytes(), self.task.digest().encode()]


@dataclass(frozen=True, slots=True, eq=False)
class TextSource:
    """A task by its texts."""

    task: Task

    kept_back = "are kept from training for it"
    no_pairs = "no query has a relevant document"
    without_direction = 0

    @property
    def sides(self) -> tuple[Sequence[Item], Sequence[Item]]:
        """The texts of both sides; an error where the task has none."""
        return items_of(self.task, ": an encoder is trained on texts")

    def check(self, others: Sequence[TextSource]) -> None:  # noqa: ARG002  # texts fit to all texts
        """Refuse a task without texts."""
        _ = self.sides

    def only(self, rows: Index) -> TextSource:
        """Some queries (or pairs) of the task."""
        return TextSource(self.task.only(rows))

    def unit_keys(self) -> list[Hashable]:
        """Each query by its text, each pair by both of its texts."""
        return self.task.unit_items()

    def document_contents(self, rows: Index) -> list[Item]:
        """The texts of some documents."""
        documents = self.sides[1]
        return [documents[row] for row in rows.tolist()]

    def positives(self) -> tuple[Index, Index]:
        """All positive pairs of the task."""
        return self.task.positives()

    def wanted_by(self, others: Sequence[TextSource]) -> Flags | None:
        """Which documents are relevant to some unit of these sources, by their texts: held-out documents may be few."""
        wanted: set[Item] = set()
        for source in others:
            wanted.update(source.document_contents(np.unique(source.positives()[1])))
        return np.array([item in wanted for item in self.sides[1]], np.bool_) if wanted else None

    def number_sides(self, others: Sequence[TextSource]) -> list[NumberedSides[Sequence[Item]]]:
        """Number texts in the order in which they first appear, each side apart."""
        numbers: tuple[dict[Item, int], dict[Item, int]] = ({}, {})
        return [
            NumberedSides(
                *source.sides, *(_number(side, known) for side, known in zip(source.sides, numbers, strict=True))
            )
            for source in (self, *others)
        ]

    def contents(self) -> list[bytes]:
        """All that the task is, its texts included."""
        return [self.task.digest().encode()]


def _written(widths: tuple[int, int]) -> str:
    """The widths in words: one number if both sides share it, else both."""
    return f"{widths[0]}" if widths[0] == widths[1] else f"{widths[0]} and {widths[1]}"


def _number(texts: Sequence[Item], known: dict[Item, int]) -> Index:
    """A number for each text; ``known`` remembers those of texts before."""
    return np.array([known.setdefault(text, len(known)) for text in texts], np.int64)
