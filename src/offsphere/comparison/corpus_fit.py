"""What a comparison must know of the documents before it searches them, in one pass over blocks that may lie anywhere.

Blocks are merged two by two along one tree, whoever reads them and in whatever order they come, and each is multiplied
by one thread: so neither threads nor shards change a bit of what transforms are fitted on.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from offsphere.base.arrays import Rows
from offsphere.base.cores import available_cores, in_order, one_blas_thread
from offsphere.base.merging import Merging
from offsphere.vectors.blocks import Blocks, Documents
from offsphere.vectors.lengths import EQUAL_LENGTHS, lengths
from offsphere.vectors.moments import Moments

MEMORY = 1 << 30  # bytes that the blocks in work may take
BYTES_A_NUMBER = 16  # of a block: its rows, centred in float64, and those that wait


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
    blocks, merging = Blocks.of(documents), Merging[CorpusFit]()
    room = MEMORY // (BYTES_A_NUMBER * blocks.rows * blocks.dimension)
    with one_blas_thread():
        for fit in in_order(CorpusFit.of, ((block,) for block in blocks), max(1, min(available_cores(), room))):
            merging.add(fit)
    whole = merging.result()
    assert whole is not None  # Blocks refuses an empty corpus
    return whole
