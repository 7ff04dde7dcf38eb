"""What length carries, as one story from all numbers: over the corpus, text length held fixed, and beside rivals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from offsphere.wording.written_numbers import chance, effect, with_interval

Numbers = Mapping[str, Any]

_USES = {
    "gains": "Length helps",
    "loses": "Length hurts as it stands",
    "equal": "Length makes no difference that matters",
    "none": "Whether length helps cannot be told",
}
_OTHER = {"longer": "shorter", "shorter": "longer"}


def lengths_of_relevant(n: Numbers) -> str:
    """Say what the lengths of relevant documents are like, without a capital or a full stop.

    Args:
        n: the states and values of a story: ``Relevance.story``.

    Returns:
        One clause on the corpus and one on the rivals, those that are known.
    """
    parts = [part for part in (_over_the_corpus(n), _beside_rivals(n)) if part]
    return "; ".join(f"{part[0].lower()}{part[1:]}" for part in parts) or "no lengths could be compared"


def _story(n: Numbers) -> str:
    parts = [_use(n), _over_the_corpus(n), _beside_rivals(n)]
    return " ".join(f"{part}." for part in parts if part)


def _use(n: Numbers) -> str:
    """What the dot product, which lets length count, does against cosine."""
    if n["dot"] is None:
        return ""
    change = with_interval(n["dot_gain"], n["dot_low"], n["dot_high"])
    return (
        f"{_USES[n['dot']]}: the dot product, which lets it count, changes {n['metric']} by {change} against cosine "
        f"({chance(n['dot_p'])})"
    )


def _over_the_corpus(n: Numbers) -> str:
    """Relevant documents against all others."""
    if n["raw"] is None:
        return ""
    if n["raw"] == "none":
        sentence = f"Between the lengths of relevant documents and others no difference was found ({effect(n, 'd')})"
    else:
        sentence = f"Relevant documents have {n['raw']} vectors than others ({effect(n, 'd')})"
    return sentence + _held_fixed(n, n["raw"], n["control"], "adjusted")


def _beside_rivals(n: Numbers) -> str:
    """Relevant documents against those that cosine ranks beside them."""
    if n["within"] is None:
        return ""
    beside = "Beside the rivals that cosine ranks near them"
    if n["within"] == "none":
        sentence = f"{beside} no difference was found ({effect(n, 'within_d')})"
    else:
        sentence = f"{beside} relevant ones are {n['within']} ({effect(n, 'within_d')})"
    return sentence + _held_fixed(n, n["within"], n["within_control"], "within_adjusted")


def _held_fixed(n: Numbers, way: str, control: str | None, name: str) -> str:
    """What is left when text length is held fixed: the same, the opposite, nothing, or what was not seen before."""
    if control is None:
        return ""
    size = effect(n, name)
    return {
        "survives": f", also with text length held fixed ({size})",
        "turns": f"; with text length held fixed the sign turns: they are {_OTHER.get(way)} ({size})",
        "disguise": f", but that is text length in disguise: with it held fixed no difference is found ({size})",
        "unclear": f"; with text length held fixed that cannot be told from chance ({size})",
        "neither": f", nor with text length held fixed ({size})",
        "longer": f"; with text length held fixed relevant ones are longer ({size})",
        "shorter": f"; with text length held fixed relevant ones are shorter ({size})",
    }[control]


def _discarded(n: Numbers) -> str:
    return f"What length is worth cannot be told: {n['why']}."


def _by_dot(n: Numbers) -> str:
    return f"{_use(n)}. Of the lengths of relevant documents nothing can be said: {n['why']}."


def _not_measured(n: Numbers) -> str:
    return f"What length carries cannot be told: {n['why']}."


LENGTH_WORDS: Mapping[str, Callable[[Numbers], str]] = MappingProxyType(
    {
        "length and relevance": _story,
        "length discarded": _discarded,
        "length by the dot product": _by_dot,
        "length not measured": _not_measured,
        "dot against cosine": lambda n: f"{_use(n)}.",
    }
)
