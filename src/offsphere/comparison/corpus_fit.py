"""What a comparison must know of the documents before it searches them, in one pass over blocks of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from offsphere.base.arrays import Rows
from offsphere.vectors.block_fits import fit_blocks
from offsphere.vectors.blocks import Blocks, Documents
from offsphere.vectors.lengths import EQUAL_LENGTHS, lengths
from offsphere.vectors.moments import Moments


@dataclass(frozen=True, slots=True, eq=False)
class CorpusFit:
    """The moments of vectors, on which transforms are fitted, and the range of their lengths.

    Attributes:
        moments: Count, mean and scatter.
        shortest: The least length above zero; infinity where there is none.
        longest: The greatest length.
        with_length: How many vectors have a length above zero.

    Example:
        >>> import numpy as np
        >>> from offsphere.comparison.corpus_fit import CorpusFit
        >>> fit = CorpusFit.of(np.array([[3.0, 4.0], [0.0, 0.0]], np.float32))
        >>> fit.longest, fit.with_length, fit.equal_lengths
        (5.0, 1, False)
    """

    moments: Moments
    shortest: float
    longest: float
    with_length: int

    @classmethod
    def of(cls, block: Rows) -> CorpusFit:
        """Fit one block of vectors."""
        block_lengths = lengths(block)
        positive = block_lengths[block_lengths > 0]
        return cls(Moments.of(block), float(positive.min(initial=inf)), float(positive.max(initial=0.0)), len(positive))

    def merge(self, other: CorpusFit) -> CorpusFit:
        """The fit of both, ``other`` coming after this one."""
        return CorpusFit(
            self.moments.merge(other.moments),
            min(self.shortest, other.shortest),
            max(self.longest, other.longest),
            self.with_length + other.with_length,
        )

    @property
    def equal_lengths(self) -> bool:
        """Whether all lengths, but for those that are zero, are one number: the vectors were normalised."""
        return self.with_length > 1 and self.longest - self.shortest <= EQUAL_LENGTHS * self.longest


def fit_corpus(documents: Documents | Blocks) -> CorpusFit:
    """Fit all documents, block by block.

    Args:
        documents: An array, a memory map, or several of either.

    Returns:
        The fit; the same whatever the threads.

    Example:
        >>> import numpy as np
        >>> from offsphere.comparison.corpus_fit import fit_corpus
        >>> fit_corpus([np.full((2, 1), value, np.float32) for value in (1, 4)]).moments.covariance.tolist()
        [[2.25]]
    """
    return fit_blocks(CorpusFit.of, documents)
