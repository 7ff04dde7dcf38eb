"""Where runs of equal numbers stand in a sorted array, for many numbers at once."""

from __future__ import annotations

import numpy as np

from offsphere.base.arrays import Index


def spans(ordered: Index, wanted: Index) -> tuple[Index, Index]:
    """Every position at which a sorted array holds one of the wanted numbers.

    Returns:
        The index of the wanted number, and the position, of each hit. ``spans([2, 2, 5], [5, 2])`` gives ``[0, 1, 1]``
        and ``[2, 0, 1]``.
    """
    first, last = np.searchsorted(ordered, wanted), np.searchsorted(ordered, wanted, side="right")
    counts = last - first
    positions = np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
    return np.repeat(np.arange(len(wanted)), counts), positions
