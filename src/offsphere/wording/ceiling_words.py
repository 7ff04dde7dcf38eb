"""What a boost for each document can be worth at most, and what today's vector lengths hold of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from offsphere.wording.written_numbers import Numbers, certainty, chance, share, signed, smallest_gain, with_interval

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "prior": "a boost by popularity",
        "correction": "a cut for nearness to any query",
        "bias": "a boost learned for each document",
        "weight": "a factor learned for each document",
        "length": "a boost by vector length",
    }
)
_LEARNED = (
    "It is not recommended, since it takes judgments or clicks and knows only documents that other queries have met"
)
_BY_DOT = "That is no gain on top of the dot product, which lets it count already"
_WHY_NOT: Mapping[str, str] = MappingProxyType(
    {
        "prior": _LEARNED,
        "bias": _LEARNED,
        "weight": _LEARNED,
        "correction": "Among the rows of compare nnn and csls do this",
        "length": "Among the rows of compare --more several do this",
    }
)


def _nothing(n: Numbers) -> str:
    return (
        f"Do not look for a boost per document: none gains more than {signed(n['most'])} of {n['metric']} over cosine, "
        f"and the smallest gain that matters is {smallest_gain(n['worth'])}.{_once(n)}"
    )


def _held(n: Numbers) -> str:
    return (
        f"Vector length {'serves' if n['by_dot'] else 'could serve'} as a boost per document: {KINDS['length']} gains "
        f"{_gain(n, 'length')}, and no other boost gains more. {_BY_DOT if n['by_dot'] else _WHY_NOT['length']}."
        f"{_nature(n)}{_once(n)}"
    )


def _held_in_part(n: Numbers) -> str:
    return (
        f"{_would_gain(n)}: {KINDS[n['kind']]} gains {_gain(n, 'best')}.{_nature(n)} "
        f"{_WHY_NOT[n['kind']]}. Vector length holds a part of that gain: {_gain(n, 'length')}.{_once(n)}"
    )


def _not_held(n: Numbers) -> str:
    if n["length"] is None:
        held = "All vectors have the same length, which holds nothing of that"
    else:
        held = f"Vector length holds nothing of it that one could see: {_gain(n, 'length')}"
    return (
        f"{_would_gain(n)}: {KINDS[n['kind']]} gains {_gain(n, 'best')}.{_nature(n)} "
        f"{_WHY_NOT[n['kind']]}. {held}.{_once(n)}"
    )


def _unclear(n: Numbers) -> str:
    return (
        f"Whether a boost per document would help cannot be told: the best, {KINDS[n['kind']]}, gains "
        f"{_gain(n, 'best')}.{_once(n)}"
    )


def _would_gain(n: Numbers) -> str:
    """Say that there is something to gain, and what one must have for it."""
    needed = ", where there are judgments or clicks" if _WHY_NOT[n["kind"]] is _LEARNED else ""
    return f"A boost per document would gain{needed}"


def _gain(n: Numbers, name: str) -> str:
    """A gain, how sure it is, and its numbers in brackets."""
    change = with_interval(n[name], n[f"{name}_low"], n[f"{name}_high"])
    return f"{change} of {n['metric']} over cosine ({certainty(n[f'{name}_p'])}, {chance(n[f'{name}_p'])})"


def _nature(n: Numbers) -> str:
    """Whether it is popularity or a correction for hubs, where one of the two surely gains."""
    return {
        "prior": " What other queries want is wanted again (popularity).",
        "correction": " Some documents are near to queries of every kind (hubs).",
        None: "",
    }[n["nature"]]


def _once(n: Numbers) -> str:
    """Say that judgments hold no popularity, where hardly anything is wanted twice."""
    if not n["known_item"]:
        return ""
    return (
        f" Popularity cannot be learned here: {share(n['wanted_again'])} of the judgments are for a document that "
        "another query wants too."
    )


CEILING_WORDS: Mapping[str, Callable[[Numbers], str]] = MappingProxyType(
    {
        "nothing in documents": _nothing,
        "lengths hold it": _held,
        "lengths hold a part": _held_in_part,
        "lengths hold none": _not_held,
        "documents unclear": _unclear,
    }
)
