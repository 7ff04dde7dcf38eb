"""The rule of task symmetry, and whether the measurement agrees with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from offsphere.wording.written_numbers import Numbers


def _rule(n: Numbers) -> str:
    """What one expects of vector length where the sides play one role, or two."""
    if not n["symmetric"]:
        return f"{_roles(n)}, where vector length can help a model that was trained to use it"
    return f"{_roles(n)}, where vector length is expected to hurt"


def _roles(n: Numbers) -> str:
    sides = "The two sides of a pair" if n["unit"] == "pairs" else "Query and document"
    return f"{sides} play {'the same role' if n['symmetric'] else 'different roles'}"


def _rule_and_measurement(n: Numbers) -> str:
    """Where sides have roles a loss contradicts nothing: nobody says that this model was trained to use length."""
    if n["symmetric"]:
        here = {"loses": "here it does", "gains": "here it helps instead: believe the measurement"}
    else:
        here = {"gains": "here it does", "loses": "in these vectors, as they are, it does not"}
    here |= {"equal": "here it makes no difference that matters", "none": "here no difference was found"}
    return f"{_rule(n)}; {here[n['dot']]}."


def _too_few(n: Numbers) -> str:
    return f"{_rule(n)}; {n['units']:,} {n['unit']} are too few to tell."


def _cannot_say(n: Numbers) -> str:
    return f"{_roles(n)}; whether vector length helps cannot be told from this task: {n['why']}."


EXPECTATION_WORDS: Mapping[str, Callable[[Numbers], str]] = MappingProxyType(
    {
        "rule of symmetry": _rule_and_measurement,
        "rule, too few units": _too_few,
        "rule, no measurement": _cannot_say,
    }
)
