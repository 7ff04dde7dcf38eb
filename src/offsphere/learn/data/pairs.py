"""Training pairs: which query belongs to which document, gathered from one task or several, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Flags, Index, Rows, Vectors
from offsphere.base.errors import DataError, ParameterError
from offsphere.base.spans import spans
from offsphere.data.task import EmbeddedTask, Task, TaskVectors
from offsphere.geometry.positives import positives_of
from offsphere.vectors.contents import keys_of


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The vectors of one task, and a number for each, the same for vectors (or documents) that are the same."""

    queries: Vectors
    documents: Vectors
    query_keys: Index
    document_keys: Index


@dataclass(frozen=True, slots=True, eq=False)
class TrainingPairs:
    """Pairs as rows into the sources, and all that is known to be relevant."""

    sources: Sequence[Source]
    source: Index  # (pairs,) which source a pair is from
    queries: Index  # (pairs,) row in its source
    documents: Index  # (pairs,)
    known: Index  # (n, 2) query key and document key of all that is no negative, sorted
    distinct: int  # different positives: the size of the training set
    left_out: int  # positives without a direction

    def __len__(self) -> int:
        return len(self.source)

    @classmethod
    def of(
        cls, task: EmbeddedTask, also: Sequence[EmbeddedTask] = (), repeat: int | None = None, rows: Index | None = None
    ) -> TrainingPairs:
        """The positives of a task (of some of its queries or pairs, by row), and of others that are learned from too.

        The task's own pairs are repeated so that they are about as many as all others together. Another task of the
        same name is of the same corpus: there a document is known by its id, however it is encoded.
        """
        names: dict[str, int] = {}
        sources, found, left_out = [], [], 0
        for place, (one, vectors) in enumerate((task, *also)):
            alike = positives_of(one, vectors)
            left_out += alike.without_direction
            sources.append(_source(one, vectors, names if one.name == task[0].name else None))
            places = np.stack([np.full(len(alike), place), alike.left, alike.right], axis=1)
            found.append(places if place or rows is None else places[np.isin(alike.left, rows)])
        if not len(found[0]):
            raise DataError(
                f"{task[0].name} has no pair to learn from: no query has a relevant document, all have length zero, or "
                "all are judged by too"
            )
        others = sum(map(len, found[1:]))
        times = repeat if repeat is not None else max(1, round(others / len(found[0])))
        if times < 1:
            raise ParameterError(f"repeat = {times}: give at least 1")
        keys = np.concatenate(
            [
                np.stack([source.query_keys[places[:, 1]], source.document_keys[places[:, 2]]], axis=1)
                for source, places in zip(sources, found, strict=True)
            ]
        )
        pairs = np.concatenate([found[0]] * times + found[1:])
        positives = np.unique(keys, axis=0)
        known = np.asfortranarray(np.unique(np.concatenate([positives, _excluded(task[0], sources[0])]), axis=0))
        return cls(sources, pairs[:, 0], pairs[:, 1], pairs[:, 2], known, len(positives), left_out)

    def batches(self, size: int, rng: np.random.Generator) -> Iterator[Index]:
        """Pairs of one epoch in batches of exactly that size, in an order that depends on the generator alone."""
        order = rng.permutation(len(self))
        for start in range(0, len(order) - size + 1, size):
            yield order[start : start + size]

    def gather(self, chosen: Index) -> tuple[Rows, Rows]:
        """The vectors of both sides of some pairs."""
        sides = []
        for rows, name in ((self.queries, "queries"), (self.documents, "documents")):
            if len(self.sources) == 1:
                sides.append(np.asarray(getattr(self.sources[0], name)[rows[chosen]], np.float32))
                continue
            found = np.empty((len(chosen), self.sources[0].queries.shape[1]), np.float32)
            for place, source in enumerate(self.sources):
                here = self.source[chosen] == place
                found[here] = getattr(source, name)[rows[chosen[here]]]
            sides.append(found)
        return sides[0], sides[1]

    def keys(self, chosen: Index) -> tuple[Index, Index]:
        """Query and document numbers of some pairs."""
        query, document = np.empty(len(chosen), np.int64), np.empty(len(chosen), np.int64)
        for place, source in enumerate(self.sources):
            here = self.source[chosen] == place
            query[here] = source.query_keys[self.queries[chosen[here]]]
            document[here] = source.document_keys[self.documents[chosen[here]]]
        return query, document

    def seen(self, task: Task, vectors: TaskVectors) -> Flags:
        """Which queries of another task have a relevant document that was one of this task's own positives."""
        queries, documents = task.positives()
        rows, place = np.unique(documents, return_inverse=True)
        own = self.sources[0].document_keys[self.documents[self.source == 0]]
        known = np.isin(keys_of(vectors.sides[1][rows]), own)[place]
        flags = np.zeros(task.units, np.bool_)
        flags[queries[known]] = True
        return flags

    def relevant(self, query_keys: Index) -> tuple[Index, Index]:
        """Row and document number of everything known to be relevant to these queries."""
        which, places = spans(self.known[:, 0], query_keys)
        return which, self.known[places, 1]


def _excluded(task: Task, source: Source) -> Index:
    """Keys of what a query must not get back: neither a positive nor a negative."""
    queries, documents = task.excluded_pairs()
    return np.stack([source.query_keys[queries], source.document_keys[documents]], axis=1)


def _source(task: Task, vectors: TaskVectors, names: dict[str, int] | None) -> Source:
    """``names`` remember the documents of this corpus, where its sources have ids."""
    queries, documents = vectors.sides
    ids = task.sides[1].ids
    keys = keys_of(documents)
    if names is not None and ids is not None:
        for place, name in enumerate(ids):
            keys[place] = names.setdefault(name, int(keys[place]))
    return Source(queries, documents, keys_of(queries), keys)
