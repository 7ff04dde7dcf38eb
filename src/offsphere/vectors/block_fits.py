"""What is fitted on documents, block by block: the one order in which parts of a corpus are summed.

Blocks are merged two by two along one tree, whoever reads them and in whatever order they come, and each is multiplied
by one thread: so neither threads nor shards change a bit of what transforms are fitted on, and what was measured,
what is searched with and what is exported are the same map.
"""

from __future__ import annotations

from collections.abc import Callable

from offsphere.base.arrays import Rows
from offsphere.base.cores import available_cores, in_order, one_blas_thread
from offsphere.base.merging import MergedState, Merging
from offsphere.vectors.blocks import Blocks, Documents
from offsphere.vectors.moments import Moments

MEMORY = 1 << 30  # bytes that the blocks in work may take
BYTES_A_NUMBER = 16  # of a block: its rows, centred in float64, and those that wait


def fit_blocks(fit: Callable[[Rows], MergedState], documents: Documents | Blocks) -> MergedState:
    """Fit every block of the documents, and merge the fits.

    Args:
        fit: What makes a state of a block; states merge.
        documents: An array, a memory map, or several of either.

    Returns:
        The state of all documents; the same whatever the threads.

    Raises:
        VectorError: There are no documents, or they are no rows of numbers.

    Example:
        >>> import numpy as np
        >>> from offsphere.vectors.block_fits import fit_blocks
        >>> from offsphere.vectors.moments import Moments
        >>> fit_blocks(Moments.of, [np.full((2, 1), value, np.float32) for value in (1, 4)]).covariance.tolist()
        [[2.25]]
    """
    blocks, merging = Blocks.of(documents), Merging[MergedState]()
    room = MEMORY // (BYTES_A_NUMBER * blocks.rows * blocks.dimension)
    with one_blas_thread():
        for part in in_order(fit, ((block,) for block in blocks), max(1, min(available_cores(), room))):
            merging.add(part)
    whole = merging.result()
    assert whole is not None  # Blocks refuses an empty corpus
    return whole


def corpus_moments(documents: Documents | Blocks) -> Moments:
    """The moments of all documents, which transforms are fitted on.

    Args:
        documents: An array, a memory map, or several of either, read a block at a time.

    Returns:
        Count, mean and scatter.

    Example:
        >>> import numpy as np
        >>> from offsphere.vectors.block_fits import corpus_moments
        >>> corpus_moments(np.array([[1.0, 0.0], [3.0, 4.0]], np.float32)).mean.tolist()
        [2.0, 2.0]
    """
    return fit_blocks(Moments.of, documents)
