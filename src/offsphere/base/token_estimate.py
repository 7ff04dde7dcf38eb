"""How many tokens texts have, about: enough to know what asking an endpoint will cost."""

from __future__ import annotations

from collections.abc import Iterable

CHARACTERS_A_TOKEN = 4  # of English text, about


def tokens_about(texts: Iterable[str]) -> int:
    """How many tokens texts have, about: what a tokenizer makes of English is four characters a token.

    Example:
        >>> from offsphere.base.token_estimate import tokens_about
        >>> tokens_about(["wing flutter in supersonic flow", "a"])
        9
    """
    return sum(len(text) // CHARACTERS_A_TOKEN + 1 for text in texts)
