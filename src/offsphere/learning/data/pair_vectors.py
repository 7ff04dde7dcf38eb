"""The vectors of training pairs: both sides of some of them as rows, and how wide each side is."""

from __future__ import annotations

import numpy as np

from offsphere.base.arrays import Index, Rows
from offsphere.learning.data.training_pairs import VectorPairs


def widths_of(pairs: VectorPairs) -> tuple[int, int]:
    """How many numbers a query's vector has, and a document's."""
    first = pairs.sources[0]
    return int(first.queries.shape[1]), int(first.documents.shape[1])


def gather(pairs: VectorPairs, chosen: Index) -> tuple[Rows, Rows]:
    """The vectors of both sides of some pairs."""
    sides = []
    for rows, name in ((pairs.queries, "queries"), (pairs.documents, "documents")):
        if len(pairs.sources) == 1:
            sides.append(np.asarray(getattr(pairs.sources[0], name)[rows[chosen]], np.float32))
            continue
        vectors = np.empty((len(chosen), getattr(pairs.sources[0], name).shape[1]), np.float32)
        for number, source in enumerate(pairs.sources):
            here = pairs.source[chosen] == number
            vectors[here] = getattr(source, name)[rows[chosen[here]]]
        sides.append(vectors)
    return sides[0], sides[1]
