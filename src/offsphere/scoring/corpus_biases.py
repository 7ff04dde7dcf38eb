"""The biases of a corpus, row by row: looked up by id, and made from the bank for documents that are new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from offsphere.base.arrays import Array, Vectors
from offsphere.scoring.document_bias import DocumentBias
from offsphere.scoring.query_bank import TransformFunction
from offsphere.scoring.similarity import Similarity


class BiasedScorer(Protocol):
    """A scorer, or what it is lowered to: what a document's bias depends on."""

    @property
    def similarity(self) -> Similarity:
        """The formula that the bias adds to."""
        ...

    @property
    def transform(self) -> TransformFunction:
        """What the fitted transforms make of the vectors of a side."""
        ...

    @property
    def bias(self) -> DocumentBias | None:
        """The bias, where there is one."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class CorpusBiases:
    """A bias for each row of a corpus; one that is not known yet is filled in when its vector comes."""

    values: Array  # (documents,), not-a-number where nobody knows
    scorer: BiasedScorer

    @classmethod
    def of(cls, scorer: BiasedScorer, ids: Sequence[str] | None, count: int) -> CorpusBiases | None:
        """Look up what is known of a corpus; nothing for a scorer without a bias.

        Args:
            scorer: whose bias it is.
            ids: of the documents, in their order, where they are known.
            count: how many documents there are.

        Raises:
            VectorError: where the bias cannot be matched with the documents.
        """
        return cls(scorer.bias.of_rows(ids, count), scorer) if scorer.bias is not None else None

    def of_block(self, vectors: Vectors, first: int = 0) -> Array:
        """Give the biases of some documents, from row ``first`` on, whose vectors are these."""
        values = self.values[first : first + len(vectors)]
        new = np.isnan(values)
        bias = self.scorer.bias
        if new.any() and bias is not None and bias.bank is not None:
            # a corpus with new documents has an array of its own, see DocumentBias.of_rows
            values[new] = bias.bank.biases(self.scorer.transform, self.scorer.similarity, vectors[new])
        return values
