"""What a token counts for in its text: the same as any other, as its length says, or as its rarity says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.errors import VectorError
from offsphere.tokens.token_bags import TokenBags

SMOOTHING = 1e-3  # a of SIF: a word of this share of a corpus counts half of one that is not there (Arora et al. 2017)


def _sif(bags: TokenBags) -> Array:
    """Smooth inverse frequency, ``a / (a + p)`` (Arora, Liang & Ma 2017)."""
    if np.isnan(bags.frequency).any():
        raise VectorError("weights by frequency need the share of each token in a corpus")
    return SMOOTHING / (SMOOTHING + bags.frequency)


# by name: the weight of each vector of a table
WEIGHTS: Mapping[str, Callable[[TokenBags], Array]] = MappingProxyType(
    {
        "uniform": lambda bags: np.ones(len(bags.table)),
        "length": lambda bags: bags.lengths,
        "direction": lambda bags: np.divide(1.0, bags.lengths, out=np.zeros(len(bags.table)), where=bags.lengths > 0),
        "sif": _sif,
    }
)
PHRASES: Mapping[str, str] = MappingProxyType(
    {
        "uniform": "every token counts the same",
        "length": "a token counts by its length",
        "direction": "a token's own length is taken away",
        "sif": "a token counts the more, the rarer it is",
    }
)


def entry_weights(bags: TokenBags, kind: str) -> Array:
    """What each entry of the bags counts for: how often it stands there, times the weight of its vector.

    Args:
        bags: The texts.
        kind: ``uniform``, ``length``, ``direction`` (one over the length) or ``sif``.

    Returns:
        A number an entry, not summing to one.

    Raises:
        VectorError: Weights by frequency where nobody counted tokens.

    Example:
        >>> import numpy as np
        >>> from offsphere.tokens.token_bags import TokenBags
        >>> table = np.diag([3.0, 4.0]).astype(np.float32)
        >>> bags = TokenBags.of(table, np.arange(2), np.array([0, 1, 1]), np.array([3]))
        >>> entry_weights(bags, "length").tolist()
        [3.0, 8.0]
    """
    return np.asarray(bags.counts * WEIGHTS[kind](bags)[bags.rows])
