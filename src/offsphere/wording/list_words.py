"""What other systems give beside the recommended scorer: how much better or worse the best of them is, and how sure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from offsphere.wording.written_numbers import chance, with_interval

Numbers = Mapping[str, Any]


def _other_systems(n: Numbers) -> str:
    gain = with_interval(n["gain"], n["gain_low"], n["gain_high"])
    sure = {
        "up": f"is better than {n['chosen']}",
        "down": f"is worse than {n['chosen']}",
        "none": f"is not surely better or worse than {n['chosen']}",
    }
    best = f", the best of {n['rows']} rows that no vector index serves," if n["rows"] > 1 else ""
    alone = "" if n["rows"] > 1 else ". No vector index serves it"
    return (
        f"{n['name']}{best} {sure[n['state']]}: {n['metric']} {n['value']:.4f}, a difference of {gain} "
        f"({chance(n['p'])}){alone}."
    )


LIST_WORDS: Mapping[str, Callable[[Numbers], str]] = MappingProxyType({"other systems": _other_systems})
