"""As what to store vectors: what it saves, what that costs, and how sure it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from offsphere.wording.written_numbers import Numbers, share, smallest_gain, with_interval


def _store_smaller(n: Numbers) -> str:
    most = f"at most {n['costs_at_most']:.4f}" if n["costs_at_most"] > 0 else "nothing"
    return (
        f"Store {n['name']} as {n['form']}: {n['phrase']}. A vector takes {_memory(n)}, and {n['metric']} changes by "
        f"{_change(n)} from {n['whole_value']:.4f}; what that costs is surely less than {smallest_gain(n['worth'])} "
        f"({most}{_together(n)})."
    )


def _store_whole(n: Numbers) -> str:
    none = "none of these forms surely costs" if n["forms"] > 1 else f"{n['form']} does not surely cost"
    nearest = f"The nearest is {n['form']}: a" if n["forms"] > 1 else "A"
    return (
        f"Store whole vectors of {n['name']}: {none} less than {smallest_gain(n['worth'])}. {nearest} vector takes "
        f"{_memory(n)}, and {n['metric']} changes by {_change(n)} from {n['whole_value']:.4f} (it may cost "
        f"{n['costs_at_most']:.4f}{_together(n)})."
    )


def _memory(n: Numbers) -> str:
    return (
        f"{n['vector_bytes']:,} bytes instead of {n['whole_bytes']:,} ({share(n['vector_bytes'] / n['whole_bytes'])})"
    )


def _change(n: Numbers) -> str:
    return with_interval(n["change"], n["change_low"], n["change_high"])


def _together(n: Numbers) -> str:
    return f", a bound for all {n['rows']} stored rows together" if n["rows"] > 1 else ""


STORING_WORDS: Mapping[str, Callable[[Numbers], str]] = MappingProxyType(
    {"store smaller": _store_smaller, "store whole": _store_whole}
)
