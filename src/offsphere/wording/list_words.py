"""What other systems give beside the recommended scorer: how much better or worse the best of them is, and how sure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from offsphere.wording.written_numbers import Numbers, certainty, chance, with_interval


def _other_systems(n: Numbers) -> str:
    gain = with_interval(n["gain"], n["gain_low"], n["gain_high"])
    sure = {
        "up": f"is better than {n['chosen']}",
        "down": f"is worse than {n['chosen']}",
        "none": f"is not surely better or worse than {n['chosen']}",
    }
    difference = f"a difference of {gain} ({certainty(n['p'])}, {chance(n['p'])})"
    told = f"{sure[n['state']]}: {n['metric']} {n['value']:.4f}, {difference}."
    if n["rows"] > 1:
        return f"The best of {n['rows']} rows that no vector index serves, {n['name']}, {told}"
    return f"No vector index serves {n['name']}, which {told}"


LIST_WORDS: Mapping[str, Callable[[Numbers], str]] = MappingProxyType({"other systems": _other_systems})
