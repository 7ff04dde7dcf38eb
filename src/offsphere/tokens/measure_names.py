"""Names of similarities over tokens, as a user types them: ``wrd``, ``maxsim(none)``, ``softcos(query, length)``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from offsphere.base.errors import ParameterError
from offsphere.base.known_names import known_name, plain_name
from offsphere.tokens import late_interaction, soft_cosine, transport
from offsphere.tokens.late_interaction import ELSEWHERE, NORMALIZE, MaxSim
from offsphere.tokens.soft_cosine import SoftCosine
from offsphere.tokens.token_measure import TokenMeasure
from offsphere.tokens.token_weights import WEIGHTS
from offsphere.tokens.transport import Transport
from offsphere.tokens.weighted_mean import WeightedMean

_OUTSIDE_BRACKETS = re.compile(r",(?![^()]*\))")
_NAME = re.compile(r"^\s*([A-Za-z][A-Za-z_ -]*?)\s*(?:\(([^()]*)\))?\s*$")


class MeasureFamily(NamedTuple):
    """Similarities of one kind: how one is made, the words each field knows, and the members that are usually asked."""

    make: Callable[..., Any]
    fields: Mapping[str, Sequence[str]]
    members: Sequence[str]


SIDES = (*NORMALIZE, *ELSEWHERE)
FAMILIES: Mapping[str, MeasureFamily] = MappingProxyType(
    {
        "wrd": MeasureFamily(
            Transport,
            {"weights": transport.WEIGHTS, "cost": transport.COSTS},
            ["length", "uniform", "norm-gap", "uniform, norm-gap"],
        ),
        "softcos": MeasureFamily(
            SoftCosine,
            {"normalize": SIDES, "weights": soft_cosine.WEIGHTS},
            ["both", "none", "query", "document", "length", "sif"],
        ),
        "mean": MeasureFamily(WeightedMean, {"weights": tuple(WEIGHTS)}, ["uniform", "direction", "length", "sif"]),
        "maxsim": MeasureFamily(
            MaxSim,
            {"normalize": SIDES, "weights": late_interaction.WEIGHTS},
            ["both", "none", "query", "document", "length"],
        ),
    }
)


def parse_measures(text: str) -> list[TokenMeasure]:
    """Read names of similarities over tokens, joined by commas; a bare name stands for its whole family.

    Args:
        text: such as ``wrd,maxsim`` or ``wrd(length), wrd(uniform)``; ``all`` is all families.

    Returns:
        The similarities, each once.

    Raises:
        UnknownNameError: where a name, or a word in brackets, is not known.
        ParameterError: where the text is no such list.

    Example:
        >>> [measure.name for measure in parse_measures("wrd, maxsim(dot)")]
        ['wrd', 'wrd(uniform)', 'wrd(norm-gap)', 'wrd(uniform, norm-gap)', 'maxsim(none)']
    """
    names = list(FAMILIES) if plain_name(text) == "all" else _OUTSIDE_BRACKETS.split(text)
    measures: dict[str, TokenMeasure] = {}
    for typed in names:
        match = _NAME.match(typed)
        if match is None:
            raise ParameterError(
                f"{typed.strip()!r} is no similarity over tokens: expected such as wrd or maxsim(none)"
            )
        family = FAMILIES[known_name("similarity over tokens", match[1], FAMILIES)]
        for words in family.members if match[2] is None else [match[2]]:
            measure = _make(family, words)
            measures.setdefault(measure.name, measure)
    return list(measures.values())


def _make(family: MeasureFamily, words: str) -> TokenMeasure:
    """Make the member of a family that some words say, each of which belongs to one field."""
    known = [word for choices in family.fields.values() for word in choices]
    chosen: dict[str, str] = {}
    for typed in filter(None, (word.strip() for word in words.split(","))):
        word = known_name("word in brackets", typed, known)
        field = next(name for name, choices in family.fields.items() if word in choices)
        if field in chosen:
            raise ParameterError(f"{chosen[field]} and {word} are both {field}: say one")
        chosen[field] = word
    measure: TokenMeasure = family.make(**chosen)
    return measure
