"""What length carries, as one story from all numbers: over the corpus, text length held fixed, and beside rivals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from offsphere.wording.written_numbers import Numbers, certainty, chance, effect, with_interval

_USES = {
    "gains": "Vector length helps",
    "loses": "Vector length hurts",
    "equal": "Vector length makes no difference that matters",
    "none": "Whether vector length helps cannot be told",
}
_MOVES = {"gains": "rises", "loses": "falls", "equal": "goes", "none": "goes"}
_STATES = ("raw", "adjusted_way", "within", "within_adjusted_way")


def lengths_of_relevant(n: Numbers) -> str:
    """Say what the vector lengths of relevant documents are like, without a capital or a full stop.

    Args:
        n: the states and values of a story: ``Relevance.story``.

    Returns:
        One conclusion from all comparisons that there are, and in brackets the effect of each.
    """
    told = _relevant(n)
    return f"{told[0].lower()}{told[1:]}" if told else "no vector lengths could be compared"


def _story(n: Numbers) -> str:
    return " ".join(f"{part}." for part in (_use(n), _relevant(n)) if part)


def _use(n: Numbers) -> str:
    """What the dot product, which lets length count, does against cosine."""
    if n["dot"] is None:
        return ""
    change = with_interval(n["dot_gain"], n["dot_low"], n["dot_high"])
    sure = f", {certainty(n['dot_p'])}" if n["dot"] in {"gains", "loses"} else ""
    return (
        f"{_USES[n['dot']]}: with the dot product, which lets it count, {n['metric']} {_MOVES[n['dot']]} from cosine's "
        f"{n['baseline_value']:.4f} to {n['dot_value']:.4f}{sure} ({change}, {chance(n['dot_p'])})"
    )


def _relevant(n: Numbers) -> str:
    """One conclusion from up to four comparisons: with all others and with rivals, each also at equal text length."""
    if n["raw"] is None and n["within"] is None:
        return ""
    ways = {n[name] for name in _STATES if n[name] is not None}
    sure = ways - {"none"}
    if n["disguise"]:
        told = f"Relevant documents have {n['raw']} vectors only because of their text length"
    elif not sure:
        told = "Relevant documents have neither longer nor shorter vectors that one could see"
    elif len(sure) > 1:
        told = "Relevant documents have longer vectors by one comparison and shorter ones by another"
    elif len(ways) > 1:
        told = f"Relevant documents tend to have {sure.pop()} vectors, though not by every comparison"
    else:
        told = f"Relevant documents have {sure.pop()} vectors"
    corpus = _compared(n, "against all others", "raw", "d", "adjusted")
    rivals = _compared(n, "against those that cosine ranks near them", "within", "within_d", "within_adjusted")
    return f"{told} ({'; '.join(part for part in (corpus, rivals) if part)})"


def _compared(n: Numbers, against: str, state: str, name: str, adjusted: str) -> str:
    """One comparison, and the same at equal text length where that is known."""
    if n[state] is None:
        return ""
    fixed = (
        f", at equal text length {effect(n, adjusted).removeprefix('d = ')}" if n[f"{adjusted}_way"] is not None else ""
    )
    size = effect(n, name)
    return f"{size} {against}{fixed}"


def _discarded(n: Numbers) -> str:
    return f"What vector length is worth cannot be told: {n['why']}."


def _by_dot(n: Numbers) -> str:
    why = f" Of the vector lengths of relevant documents nothing can be said: {n['why']}." if n["why"] else ""
    return f"{_use(n)}.{why}"


def _not_measured(n: Numbers) -> str:
    return f"What vector length carries cannot be told: {n['why'] or 'the dot product was not compared'}."


LENGTH_WORDS: Mapping[str, Callable[[Numbers], str]] = MappingProxyType(
    {
        "length and relevance": _story,
        "length discarded": _discarded,
        "length by the dot product": _by_dot,
        "length not measured": _not_measured,
        "dot against cosine": lambda n: f"{_use(n)}.",
    }
)
