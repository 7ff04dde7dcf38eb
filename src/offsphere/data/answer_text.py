"""When is an answer right? Exact match and F1 as SQuAD defines them (Rajpurkar et al. 2016, arXiv:1606.05250)."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normalize_answer(text: str) -> str:
    """Lower case, without punctuation, articles and extra white space.

    Example:
        >>> from offsphere.data.answer_text import normalize_answer
        >>> normalize_answer("The Chickamauga  Wars.")
        'chickamauga wars'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(prediction: str, answers: Sequence[str]) -> float:
    """One if the prediction is one of the answers, once both are normalised.

    Example:
        >>> from offsphere.data.answer_text import exact_match
        >>> exact_match("the Denver Broncos!", ["Carolina Panthers", "Denver Broncos"])
        1.0
    """
    told = normalize_answer(prediction)
    return float(any(told == normalize_answer(answer) for answer in answers))


def answer_f1(prediction: str, answers: Sequence[str]) -> float:
    """The harmonic mean of precision and recall of the prediction's words, for the answer where it is highest.

    Example:
        >>> from offsphere.data.answer_text import answer_f1
        >>> answer_f1("in Santa Clara", ["Santa Clara, California"])
        0.6666666666666666
    """
    return max(_f1(normalize_answer(prediction).split(), normalize_answer(answer).split()) for answer in answers)


def holds_answer(text: str, answers: Sequence[str]) -> bool:
    """Whether a text that is normalised holds one of the answers, which are too, as whole words."""
    padded = f" {text} "
    return any(f" {answer} " in padded for answer in answers)


def _f1(told: Sequence[str], right: Sequence[str]) -> float:
    """F1 of two lists of words; where one is empty, whether both are."""
    if not told or not right:
        return float(told == right)
    shared = sum((Counter(told) & Counter(right)).values())
    return 2 * shared / (len(told) + len(right))
