"""Training pairs: which query belongs to which document, as rows of one source or several, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic

import numpy as np

from offsphere.base.arrays import Index, Vectors
from offsphere.base.errors import DataError, ParameterError
from offsphere.base.spans import spans
from offsphere.data.items import Item
from offsphere.learning.data.task_sources import Contents, NumberedSides, TaskSource


@dataclass(frozen=True, eq=False, kw_only=True)  # without slots, which a generic class cannot have when it is frozen
class TrainingPairs(Generic[Contents]):
    """Pairs as rows into the sources, and all that is known to be relevant."""

    sources: Sequence[NumberedSides[Contents]]
    source: Index  # (pairs,) which source a pair is from
    queries: Index  # (pairs,) row in its source
    documents: Index  # (pairs,)
    negatives: Index  # (pairs, n) rows of documents in the first source: hard negatives that were chosen beforehand
    known: Index  # (m, 2) query key and document key of all that is no negative, sorted
    distinct: int  # different positives: the size of the training set
    left_out: int = 0  # positives without a direction

    def __len__(self) -> int:
        return len(self.source)

    @classmethod
    def of(
        cls,
        source: TaskSource[Contents],
        rows: Index | None = None,
        *,
        also: Sequence[TaskSource[Contents]] = (),
        repeat: int | None = None,
        know_all: bool = False,
    ) -> TrainingPairs[Contents]:
        """The positives of a source (of some of its units, by row), and of others that are learned from too.

        The source's own pairs are repeated so that they are about as many as all others together, or ``repeat`` times.
        With ``know_all`` the positives of units that are not learned from are no negatives either.
        """
        parts = [source, *also]
        sides = source.number_sides(also)
        positives = [np.stack(part.positives(), axis=1) for part in parts]  # (n, 2) each
        learned = [positives[0] if rows is None else positives[0][np.isin(positives[0][:, 0], rows)], *positives[1:]]
        if not len(learned[0]):
            raise DataError(f"{source.task.name} has no pair to learn from: {source.no_pairs}")
        others = sum(map(len, learned[1:]))
        times = repeat if repeat is not None else max(1, round(others / len(learned[0])))
        if times < 1:
            raise ParameterError(f"repeat = {times}: give at least 1")
        numbers = np.concatenate([np.full(len(part), number) for number, part in enumerate(learned)])
        order = np.concatenate([np.tile(np.flatnonzero(numbers == 0), times), np.flatnonzero(numbers > 0)])
        every = np.concatenate(learned)
        distinct = np.unique(
            np.concatenate([_keys(side, part) for side, part in zip(sides, learned, strict=True)]), axis=0
        )
        further = [np.stack(source.task.excluded_pairs(), axis=1), *(positives[:1] if know_all else [])]
        known = np.unique(np.concatenate([distinct, *(_keys(sides[0], part) for part in further)]), axis=0)
        return cls(
            sources=sides,
            source=numbers[order],
            queries=every[order, 0],
            documents=every[order, 1],
            negatives=np.zeros((len(order), 0), np.int64),
            known=np.asfortranarray(known),
            distinct=len(distinct),
            left_out=sum(part.without_direction for part in parts),
        )

    def batches(self, size: int, rng: np.random.Generator) -> Iterator[Index]:
        """Pairs of one epoch in batches of exactly that size, in an order that depends on the generator alone."""
        order = rng.permutation(len(self))
        for start in range(0, len(order) - size + 1, size):
            yield order[start : start + size]

    def keys(self, chosen: Index) -> tuple[Index, Index]:
        """Query and document numbers of some pairs."""
        query, document = np.empty(len(chosen), np.int64), np.empty(len(chosen), np.int64)
        for number, source in enumerate(self.sources):
            here = self.source[chosen] == number
            query[here] = source.query_keys[self.queries[chosen[here]]]
            document[here] = source.document_keys[self.documents[chosen[here]]]
        return query, document

    def relevant(self, query_keys: Index) -> tuple[Index, Index]:
        """Row and document number of everything known to be relevant to these queries."""
        return known_documents(self.known, query_keys)

    def with_negatives(self, negatives: Index) -> TrainingPairs[Contents]:
        """The pairs with a column of documents for each hard negative."""
        return replace(self, negatives=negatives)


VectorPairs = TrainingPairs[Vectors]
ItemPairs = TrainingPairs[Sequence[Item]]


def known_documents(known: Index, query_keys: Index) -> tuple[Index, Index]:
    """Row and document number of everything that belongs to these queries.

    ``known`` (n, 2) holds the numbers of queries and documents that belong together, sorted by query.
    """
    which, positions = spans(known[:, 0], query_keys)
    return which, known[positions, 1]


def _keys(sides: NumberedSides[Contents], rows: Index) -> Index:
    """Query and document numbers of pairs that are given as rows."""
    return np.stack([sides.query_keys[rows[:, 0]], sides.document_keys[rows[:, 1]]], axis=1)
