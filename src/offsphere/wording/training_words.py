"""Which side to normalise when one fine-tunes: what these vectors show, told apart from what training could do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from offsphere.wording.written_numbers import Numbers, effect, signed

_COULD = (
    "what training could make of length is another matter (Feng & Watanabe 2026 report BRIGHT nDCG@10 7.4 with cosine "
    "and 12.7 with only the query normalised), so try the query side alone as the second run"
)


def _both_sides(_: Numbers) -> str:
    return (
        "If you fine-tune, normalise both sides: on a symmetric task a one-sided score depends on the order of the "
        "pair (Spearman on STS-B 0.788 for cosine against 0.413 and 0.371 one-sided, Feng & Watanabe 2026)."
    )


def _keep_length(n: Numbers) -> str:
    """Only where length gains as it stands."""
    beside = ""
    if n["within"] == "longer":
        beside = f", and beside rivals relevant documents are longer ({effect(n, 'within_d')})"
    return (
        "If you fine-tune, normalise the query only and keep the document's vector length: it helps already (the "
        f"dot product changes {n['metric']} by {signed(n['dot_gain'])}){beside}."
    )


def _start_with_both(n: Numbers) -> str:
    if n["dot"] == "loses":
        today = f"as they stand these lengths lose (the dot product changes {n['metric']} by {signed(n['dot_gain'])})"
    elif n["dot"] == "equal":
        today = (
            "as they stand these lengths make no difference that matters (the dot product changes "
            f"{n['metric']} by {signed(n['dot_gain'])})"
        )
    elif n["within_d"] is None:
        today = "these vectors do not say whether length helps"
    elif n["within"] == "longer":
        today = (
            f"beside rivals relevant documents are longer ({effect(n, 'within_d')}), but letting length count does not "
            "surely help"
        )
    else:
        are = "shorter" if n["within"] == "shorter" else "not surely longer"
        today = f"beside rivals relevant documents are {are} ({effect(n, 'within_d')})"
    return f"If you fine-tune, start with both sides normalised: {today}; {_COULD}."


TRAINING_WORDS: Mapping[str, Callable[[Numbers], str]] = MappingProxyType(
    {
        "normalise both sides": _both_sides,
        "keep the document's length": _keep_length,
        "start with both sides": _start_with_both,
    }
)
