"""The tokens of many texts, some texts at a time: a tokenizer's own lists are many times as large."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from offsphere.encode.encoder import Tokens

Tokenize = Callable[[Sequence[str]], Tokens | None]

AT_ONCE = 1_024  # texts


def tokens_in_blocks(texts: Sequence[str], tokenize: Tokenize) -> Tokens | None:
    """The tokens of all texts; nothing where the model does not say which they are."""
    parts = []
    for start in range(0, len(texts), AT_ONCE):
        part = tokenize(texts[start : start + AT_ONCE])
        if part is None:
            return None
        parts.append(part)
    before = np.cumsum([0, *(len(part.ids) for part in parts)])
    ends = [part.ends + first for part, first in zip(parts, before, strict=False)]
    nothing = np.zeros(0, np.int64)
    return Tokens(np.concatenate([nothing, *(part.ids for part in parts)]), np.concatenate([nothing, *ends]))
