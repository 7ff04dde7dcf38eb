"""What length can be worth at most: what is to be had from documents alone, and what today's lengths hold of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from offsphere.wording.written_numbers import chance, share, signed, threshold, with_interval

Numbers = Mapping[str, Any]

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "prior": "how often other queries want it",
        "correction": "how near it is to any query",
        "bias": "a bias of its own",
        "weight": "a weight of its own",
        "length": "a curve of its length",
    }
)


def _nothing(n: Numbers) -> str:
    return (
        f"Stop looking for something about the documents alone: it gains no more than {signed(n['most'])} of "
        f"{n['metric']} over cosine, and a gain below {threshold(n['worth'])} does not matter.{_once(n)}"
    )


def _held(n: Numbers) -> str:
    return (
        f"Today's lengths hold what a document alone can tell: a curve of them gains {_gain(n, 'length')}, and nothing "
        f"else about a document gains more.{_nature(n)}{_once(n)}"
    )


def _held_in_part(n: Numbers) -> str:
    return (
        f"Today's lengths hold a part of what a document alone can tell: a curve of them gains {_gain(n, 'length')}; "
        f"{KINDS[n['kind']]} gains {_gain(n, 'best')}.{_nature(n)}{_once(n)}"
    )


def _not_held(n: Numbers) -> str:
    if n["length"] is None:
        held = "all lengths are equal and hold none of it"
    else:
        held = f"today's lengths hold none of it that can be seen (a curve of them gains {_gain(n, 'length')})"
    return (
        f"There is something to be had from the documents alone: {KINDS[n['kind']]} gains {_gain(n, 'best')}, and "
        f"{held}. Train for it, or use a bias.{_nature(n)}{_once(n)}"
    )


def _unclear(n: Numbers) -> str:
    return (
        f"Whether anything about the documents alone helps cannot be told: the best, {KINDS[n['kind']]}, gains "
        f"{_gain(n, 'best')}; sure to 95 % on that side alone, it is no more than {signed(n['most'])}.{_once(n)}"
    )


def _gain(n: Numbers, name: str) -> str:
    change = with_interval(n[name], n[f"{name}_low"], n[f"{name}_high"])
    return f"{change} of {n['metric']} over cosine ({chance(n[f'{name}_p'])})"


def _nature(n: Numbers) -> str:
    """Whether it is a prior or a correction, where one of the two surely gains."""
    return {
        "prior": " It is a prior: what other queries want is wanted again.",
        "correction": " It is a correction: some documents are near to queries of every kind.",
        None: "",
    }[n["nature"]]


def _once(n: Numbers) -> str:
    """That judgments hold no prior, where hardly anything is wanted twice."""
    if not n["known_item"]:
        return ""
    return (
        f" Of the judgments {share(n['wanted_again'])} are for a document that another query wants too: no popularity "
        "can be learned from them, only a curve of length or a correction carries over."
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
