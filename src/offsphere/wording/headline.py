"""What to do, before everything else: the first words of a sentence of the verdict, apart from its reasons."""

from __future__ import annotations

import re
from typing import NamedTuple

_SCORER = re.compile(r"[\w-]+(\(| \+ )")  # how the name of a scorer of several parts begins


class Headline(NamedTuple):
    """A sentence in two parts, each with a capital and a full stop of its own."""

    first: str  # what to do, or what was found
    rest: str  # what it buys, how sure that is, and the numbers; empty where the sentence has one part


def split_headline(sentence: str) -> Headline:
    """Divide a sentence at its first colon outside brackets.

    Args:
        sentence: Of a finding.

    Returns:
        What stands before the colon and what stands behind it; all of it before where there is no colon.

    Example:
        >>> split_headline("Keep cosine: nothing ranks better than its ndcg@10 of 0.5134.")
        Headline(first='Keep cosine.', rest='Nothing ranks better than its ndcg@10 of 0.5134.')
        >>> split_headline("Its setting costs quality: whiten(0.5) + cosine is better.").rest  # a name stays as it is
        'whiten(0.5) + cosine is better.'
    """
    depth = 0
    for position, letter in enumerate(sentence):
        depth += (letter in "([") - (letter in ")]")
        if depth <= 0 and sentence.startswith(": ", position):
            rest = sentence[position + 2 :]
            begins = rest[:1] if _SCORER.match(rest) else rest[:1].upper()
            return Headline(f"{sentence[:position]}.", f"{begins}{rest[1:]}")
    return Headline(sentence, "")
