"""Self-similarity as Xiao et al. (2023, arXiv:2212.09170) count it: over the tokens that occur at least five times.

Beside ours, which is over all ordinary tokens that stand in two texts. A token that occurs twice is often twice in the
same phrase, so ours is higher. What dimensions make of self-similarity is told as their tables have it: special tokens
count, every occurrence is also compared with itself, and the share of a dimension is taken within each token.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Flags
from offsphere.base.short_repr import short_repr
from offsphere.geometry.dimensions import Dimensions, rank_dimensions
from offsphere.geometry.tokens import LayerState
from offsphere.statistics.values import mean_or_nan

AT_LEAST = 5  # occurrences (Xiao et al. 2023)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FrequentTokens:
    """Self-similarity over the tokens that occur often enough; no number where there is none."""

    tokens: int  # ordinary ones that stand in two texts
    self_similarity: float  # of those: the mean cosine of occurrences in different texts, averaged over tokens
    self_adjusted: float  # less the layer's anisotropy
    tokens_with_special: int  # all, those of a single text among them
    with_itself: float  # of those: the mean cosine of all pairs of occurrences, each with itself, too
    dimensions: Dimensions | None  # what dimensions make of that

    __repr__ = short_repr


def frequent_tokens(layer: int, state: LayerState, compared: Flags, at_least: int) -> FrequentTokens:
    """Self-similarity over tokens that occur ``at_least`` so often; ``compared`` are ordinary ones in two texts."""
    often = state.tokens.counts >= at_least
    values = state.tokens.self_similarity[compared & often]
    with_itself = mean_or_nan(state.tokens.self_similarity_with_itself[often])
    dimensions = None
    if with_itself > 0:
        shares = state.tokens.dimension_shares(often)
        dimensions = rank_dimensions(f"layer {layer}", "self-similarity", with_itself, shares, state.any_tokens)
    return FrequentTokens(
        tokens=len(values),
        self_similarity=mean_or_nan(values),
        self_adjusted=mean_or_nan(values) - state.ordinary.anisotropy,
        tokens_with_special=int(np.count_nonzero(often)),
        with_itself=with_itself,
        dimensions=dimensions,
    )
