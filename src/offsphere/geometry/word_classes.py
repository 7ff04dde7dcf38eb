"""Tokens that hold a sentence together against tokens that mean something: a closed list of English function words.

Xiao et al. (2023, arXiv:2212.09170) find that contrastive learning makes meaningful tokens more nearly the same in
every context, and functional ones less. Which is which they read off single tokens; here functional is what grammars
call a closed class (articles, pronouns, prepositions, conjunctions, auxiliaries, particles) and punctuation. Pieces of
words are neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import category

import numpy as np

from offsphere.base.arrays import Flags

CLOSED_CLASSES = """
a an the this that these those each every either neither some any no all both half several many much few more most
less least other another such what which whose
i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself we us
our ours ourselves they them their theirs themselves who whom one someone anyone everyone nobody something anything
everything nothing none
of in to for with on at by from as into about through after over between out against during without before under
around among above below near behind across along toward towards upon within beside beyond per via off up down past
since until than like
and or but nor so yet if because while when where whether though although unless once
am is are was were be been being do does did done doing have has had having will would shall should can could may
might must ought s t d m ll re ve
not n't there here then how why too very just also only even still again
"""
FUNCTIONAL = frozenset(CLOSED_CLASSES.split())
WORD_STARTS = ("\u0120", "\u2581")  # how tokenizers write a space before a word
PIECE = "##"  # how WordPiece writes the rest of a word


def word_classes(tokens: Sequence[str]) -> tuple[Flags, Flags]:
    """Which tokens are functional and which mean something, as a tokenizer writes them; some are neither.

    Args:
        tokens: Names of tokens. Where some are marked as beginning a word, those that are not are pieces of words.

    Returns:
        A flag for each token whether it is functional, and one whether it is semantic.

    Example:
        >>> functional, semantic = word_classes(["the", "bank", "##ing", ".", "Of", "1990"])
        >>> functional.tolist()
        [True, False, False, True, True, False]
        >>> semantic.tolist()
        [False, True, False, False, False, False]
    """
    marked = any(token.startswith(WORD_STARTS) for token in tokens)
    functional, semantic = (np.zeros(len(tokens), np.bool_) for _ in range(2))
    for row, token in enumerate(tokens):
        word = token.lstrip("".join(WORD_STARTS)).casefold()
        punctuation = bool(word) and all(category(sign)[0] in "PS" for sign in word)
        whole = not token.startswith(PIECE) and (not marked or token.startswith(WORD_STARTS))
        functional[row] = punctuation or (whole and word in FUNCTIONAL)
        semantic[row] = whole and word.isalpha() and not functional[row]
    return functional, semantic
