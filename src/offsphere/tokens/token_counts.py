"""How often each token occurs in texts, counted some texts at a time: the tokens themselves are not kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Index
from offsphere.encode.token_blocks import AT_ONCE
from offsphere.tokens.token_model import TokenModel
from offsphere.tokens.vocabulary import add_counts


class TokenCounts(NamedTuple):
    """The tokens of some texts."""

    counts: Index  # (tokens,): how often each occurs, by its number
    empty: Index  # the texts that have none


def count_tokens(model: TokenModel, texts: Sequence[str]) -> TokenCounts:
    """Count the tokens of texts, in memory that does not grow with them.

    Args:
        model: What says which tokens a text has.
        texts: The texts.

    Returns:
        How often each token occurs, and which texts have no token at all.

    Example:
        >>> from offsphere import load_encoder
        >>> from offsphere.tokens.token_model import token_model
        >>> counted = count_tokens(token_model(load_encoder("wordllama")), ["a wing, a wing", ""])
        >>> int(counted.counts.max()), counted.empty.tolist()
        (2, [1])
    """
    counts: Index = np.zeros(0, np.int64)
    empty: list[Index] = [counts]
    for start in range(0, len(texts), AT_ONCE):
        part = _count(model, texts[start : start + AT_ONCE])
        counts = add_counts([counts, part.counts])
        empty.append(start + part.empty)
    return TokenCounts(counts, np.concatenate(empty))


def _count(model: TokenModel, texts: Sequence[str]) -> TokenCounts:
    """Count the tokens of a block of texts, which are forgotten before the next block has any."""
    tokens = model.tokens(texts)
    return TokenCounts(np.bincount(tokens.ids), np.flatnonzero(np.diff(tokens.ends, prepend=0) == 0))
