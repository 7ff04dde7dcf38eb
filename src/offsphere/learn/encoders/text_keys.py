"""Which texts of a batch are the same, and which belong together: numbers for queries and documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from offsphere.base.arrays import Index
from offsphere.learn.data.training_pairs import known_documents
from offsphere.learn.objective.batch import FalseNegatives

MIX = 6364136223846793005  # odd, so that multiplying by it loses nothing


class BatchKeys(NamedTuple):
    """A number for every text of a batch, the same for the same text."""

    queries: Tensor  # (pairs,)
    documents: Tensor  # (pairs,)
    hard: Tensor | None  # (hard negatives,): column after column

    @classmethod
    def of(cls, columns: Sequence[dict[str, Any]], labels: Tensor | None) -> BatchKeys:
        """As the data numbers them, in a column ``label`` of whole numbers, one a column; else by their tokens."""
        if labels is not None and labels.ndim == 2 and labels.shape[1] == len(columns):  # noqa: PLR2004
            found = list(labels.long().T)
        else:
            found = [row_keys(features) for features in columns]
        return cls(found[0], found[1], torch.cat(found[2:]) if len(found) > 2 else None)  # noqa: PLR2004

    def false_negatives(self, known: Index | None = None) -> FalseNegatives:
        """What is no negative: the document of another pair of the same query, the same document, and what is known.

        ``known`` holds pairs of a query's and a document's number that belong together, sorted.
        """
        queries, documents = self.queries.cpu().numpy(), self.documents.cpu().numpy()
        rows, relevant = known_documents(np.unique(np.stack([queries, documents], axis=1), axis=0), queries)
        if known is not None and len(known):
            more, others = known_documents(known, queries)
            rows, relevant = np.concatenate([rows, more]), np.concatenate([relevant, others])
        hard = self.hard.cpu().numpy() if self.hard is not None else None
        found = FalseNegatives.of(rows, relevant, documents, hard)
        return FalseNegatives(*(torch.unique(places, dim=1) for places in found)).to(self.queries.device)


def row_keys(features: dict[str, Any]) -> Tensor:
    """A number for each text by its tokens: a hash in which every place counts."""
    ids = features["input_ids"].long()
    if "offsets" in features:  # texts in a row, without padding
        ends = torch.cat([features["offsets"][1:], torch.tensor([len(ids)], device=ids.device)])
        which = torch.repeat_interleave(torch.arange(len(ends), device=ids.device), ends - features["offsets"])
        places = torch.arange(len(ids), device=ids.device) - features["offsets"][which]
        mixed = _mixed(ids, places)
        return torch.zeros(len(ends), dtype=torch.long, device=ids.device).index_add_(0, which, mixed)
    mask = features["attention_mask"].long()
    found: Tensor = (_mixed(ids, mask.cumsum(dim=1)) * mask).sum(dim=1)  # places among what is no padding
    return found


def _mixed(ids: Tensor, places: Tensor) -> Tensor:
    """One number of a token and its place; sums of them wrap around, which loses nothing."""
    found = (ids + 1) * MIX + (places + 1) * (MIX >> 7 | 1)
    found = (found ^ (found >> 29)) * MIX
    return found ^ (found >> 32)
