"""Spans of a sorted array, one after the other."""

from __future__ import annotations

import numpy as np

from offsphere.base.arrays import Index


def spans(ordered: Index, wanted: Index) -> tuple[Index, Index]:
    """Where each wanted number stands in a sorted array: for every such place, which was wanted, and the place."""
    first, last = np.searchsorted(ordered, wanted), np.searchsorted(ordered, wanted, side="right")
    counts = last - first
    places = np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
    return np.repeat(np.arange(len(wanted)), counts), places
