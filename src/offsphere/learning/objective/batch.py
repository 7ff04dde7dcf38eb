"""A batch as the losses see it: vectors of both sides, and which candidates do not count as negatives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from offsphere.base.arrays import Index
from offsphere.base.spans import spans


class FalseNegatives(NamedTuple):
    """What does not count as a negative, as (row, column).

    ``pairs`` names pairs i and j of a batch that belong together, which are no negatives of each other across the sides
    nor within them; ``hard`` names query i and a hard negative that is relevant to it.
    """

    pairs: Tensor  # (2, n)
    hard: Tensor  # (2, n)

    @classmethod
    def none(cls) -> FalseNegatives:
        """No false negatives: everything counts."""
        return cls(torch.zeros((2, 0), dtype=torch.long), torch.zeros((2, 0), dtype=torch.long))

    @classmethod
    def of(cls, rows: Index, relevant: Index, document_ids: Index, hard_ids: Index | None = None) -> FalseNegatives:
        """Find false negatives by ids: the document ``relevant[k]`` is relevant to the query of row ``rows[k]``.

        Whoever knows one relevant document for each query gives ``arange`` and the ids of the documents.
        """
        pairs = _matches(rows, relevant, document_ids)
        pairs = pairs[:, pairs[0] != pairs[1]]
        hard = _matches(rows, relevant, hard_ids) if hard_ids is not None else pairs[:, :0]
        return cls(torch.from_numpy(pairs), torch.from_numpy(hard))

    def beyond(self, documents: int) -> Tensor:
        """All false negatives as (row, column) among candidates where hard negatives stand after the documents."""
        shift = torch.tensor([[0], [documents]], device=self.hard.device)
        return torch.cat([self.pairs, self.hard + shift], dim=1)

    def to(self, device: torch.device) -> FalseNegatives:
        """The same false negatives on another device."""
        return FalseNegatives(self.pairs.to(device), self.hard.to(device))

    def __len__(self) -> int:
        """How many false negatives there are, of both kinds."""
        return self.pairs.shape[1] + self.hard.shape[1]


class Batch(NamedTuple):
    """Positive pairs, row by row, with hard negatives where there are any: raw vectors, before normalisation.

    Every hard negative is a negative for every query of the batch, whomever it was given for. ``heads`` hold what a
    magnitude head gives for the queries, documents and hard negatives.
    """

    queries: Tensor  # (pairs, dimension)
    documents: Tensor  # (pairs, dimension)
    hard: Tensor | None = None  # (hard negatives, dimension)
    ignored: FalseNegatives | None = None
    heads: tuple[Tensor, Tensor, Tensor | None] | None = None

    def cut(self, width: int) -> Batch:
        """The batch with the first dimensions of all vectors, their lengths as they come out."""
        hard = self.hard[:, :width] if self.hard is not None else None
        return self._replace(queries=self.queries[:, :width], documents=self.documents[:, :width], hard=hard)


def _matches(rows: Index, wanted: Index, columns: Index) -> Index:
    """Pairs (row, column) whose column holds an id that the row wants, found without a matrix of rows x columns."""
    order = np.argsort(columns)
    which, positions = spans(columns[order], wanted)
    return np.stack([rows[which], order[positions]])
