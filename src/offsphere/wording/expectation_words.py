"""The rule of task symmetry, and whether the measurement agrees with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

Numbers = Mapping[str, Any]

_SYMMETRIC = "The two sides could be exchanged, and on such tasks length is expected to hurt"
_ROLES = "The two sides have different roles, and there length can help a model that was trained to use it"


def _rule_and_measurement(n: Numbers) -> str:
    """Where sides have roles a loss contradicts nothing: nobody says that this model was trained to use length."""
    if n["symmetric"]:
        return {
            "loses": f"{_SYMMETRIC}; here it does.",
            "gains": f"{_SYMMETRIC}; here it is the other way round. Believe the measurement.",
            "equal": f"{_SYMMETRIC}; here it makes no difference that matters.",
            "none": f"{_SYMMETRIC}; here no difference was found.",
        }[n["dot"]]
    return {
        "gains": f"{_ROLES}; here it does.",
        "loses": f"{_ROLES}; the lengths of these vectors do not help as they are.",
        "equal": f"{_ROLES}; here it makes no difference that matters.",
        "none": f"{_ROLES}; here no difference was found.",
    }[n["dot"]]


def _too_few(n: Numbers) -> str:
    rule = _SYMMETRIC if n["symmetric"] else _ROLES
    return f"{rule}; {n['units']:,} {n['unit']} are too few to tell."


def _cannot_say(n: Numbers) -> str:
    sides = "two sides that could be exchanged" if n["symmetric"] else "two sides with different roles"
    return f"This is a task of {sides}; whether length helps cannot be told from it: {n['why']}."


EXPECTATION_WORDS: Mapping[str, Callable[[Numbers], str]] = MappingProxyType(
    {
        "rule of symmetry": _rule_and_measurement,
        "rule, too few units": _too_few,
        "rule, no measurement": _cannot_say,
    }
)
