"""Which items of a batch are the same, and which belong together: keys of queries and documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from offsphere.base.arrays import Index
from offsphere.learning.data.training_pairs import known_documents
from offsphere.learning.objective.batch import FalseNegatives

MIX = 6364136223846793005  # odd, so that multiplying by it loses nothing


class BatchKeys(NamedTuple):
    """A key for every text of a batch, the same for the same text."""

    queries: Tensor  # (pairs,)
    documents: Tensor  # (pairs,)
    hard: Tensor | None  # (hard negatives,): column after column

    @classmethod
    def of(cls, columns: Sequence[dict[str, Any]], labels: Tensor | None) -> BatchKeys:
        """Read the keys from the label, a whole number for each column; without one, make them of the tokens."""
        if labels is not None and labels.ndim == 2 and labels.shape[1] == len(columns):  # noqa: PLR2004
            keys = list(labels.long().T)
        else:
            keys = [row_keys(features) for features in columns]
        return cls(keys[0], keys[1], torch.cat(keys[2:]) if len(keys) > 2 else None)  # noqa: PLR2004

    def false_negatives(self, known: Index | None = None) -> FalseNegatives:
        """What is no negative: the document of another pair of the same query, the same document, and what is known.

        ``known`` holds pairs of a query's and a document's key that belong together, sorted.
        """
        queries, documents = self.queries.cpu().numpy(), self.documents.cpu().numpy()
        rows, relevant = known_documents(np.unique(np.stack([queries, documents], axis=1), axis=0), queries)
        if known is not None and len(known):
            more_rows, more_relevant = known_documents(known, queries)
            rows, relevant = np.concatenate([rows, more_rows]), np.concatenate([relevant, more_relevant])
        hard = self.hard.cpu().numpy() if self.hard is not None else None
        ignored = FalseNegatives.of(rows, relevant, documents, hard)
        return FalseNegatives(*(torch.unique(entries, dim=1) for entries in ignored)).to(self.queries.device)


def row_keys(features: dict[str, Any]) -> Tensor:
    """A key for each text by its tokens, each picture by its pixels: a hash in which every position counts."""
    if "pixel_values" in features:
        bits = features["pixel_values"].float().contiguous().flatten(1).view(torch.int32).long()
        pixel_keys: Tensor = _hash_tokens(bits, torch.arange(bits.shape[1], device=bits.device)).sum(dim=1)
        return pixel_keys
    ids = features["input_ids"].long()
    if "offsets" in features:  # texts in a row, without padding
        ends = torch.cat([features["offsets"][1:], torch.tensor([len(ids)], device=ids.device)])
        which = torch.repeat_interleave(torch.arange(len(ends), device=ids.device), ends - features["offsets"])
        positions = torch.arange(len(ids), device=ids.device) - features["offsets"][which]
        hashes = _hash_tokens(ids, positions)
        return torch.zeros(len(ends), dtype=torch.long, device=ids.device).index_add_(0, which, hashes)
    mask = features["attention_mask"].long()
    keys: Tensor = (_hash_tokens(ids, mask.cumsum(dim=1)) * mask).sum(dim=1)  # positions among what is no padding
    return keys


def _hash_tokens(ids: Tensor, positions: Tensor) -> Tensor:
    """A number for each token and its position; sums of them wrap around, which loses nothing."""
    mixed = (ids + 1) * MIX + (positions + 1) * (MIX >> 7 | 1)
    mixed = (mixed ^ (mixed >> 29)) * MIX
    return mixed ^ (mixed >> 32)
