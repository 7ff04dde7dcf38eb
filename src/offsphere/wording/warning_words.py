"""What to mind: wrong settings, hubs, rogue dimensions, too few queries, and what a bias costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from offsphere.wording.written_numbers import chance, expected_count, share, signed

Numbers = Mapping[str, Any]


def _made_for_cosine(n: Numbers) -> str:
    return (
        f"The model was made for cosine: served by inner product on raw vectors it loses {-n['dot_gain']:.4f} of "
        f"{n['metric']} ({chance(n['dot_p'])}). Check that your index normalises, or is set to cosine."
    )


def _dot_collapses(n: Numbers) -> str:
    return (
        f"The dot product keeps only {share(n['keeps'])} of what cosine finds ({chance(n['dot_p'])}): never serve "
        "these raw vectors by inner product."
    )


def _cosine_collapses(n: Numbers) -> str:
    return (
        f"Cosine keeps only {share(n['keeps'])} of what the dot product finds ({chance(n['dot_p'])}): this model put "
        "what it knows into length, so never serve it by cosine."
    )


def _discarded(n: Numbers) -> str:
    return f"Every length is the same: {n['why']}."


def _hubs(n: Numbers) -> str:
    return (
        f"Hubs under {n['scorer']}: {n['hubs']:,} of {n['documents']:,} documents are among the {n['k']} nearest of "
        f"{n['lists']} queries or more, where chance gives {expected_count(n['hubs_by_chance'])}; "
        f"the worst, {n['worst']!r}, of {n['worst_lists']:,} (of {n['queries']:,} queries)."
    )


def _rogue_dimension(n: Numbers) -> str:
    return (
        f"A rogue dimension on the {n['side']} side: dimension {n['dimension']} makes {share(n['part'])} of the mean "
        f"cosine of {n['mean_cosine']:.2f}. Centring or whitening takes it out."
    )


def _too_few(n: Numbers) -> str:
    return f"{n['units']:,} {n['unit']} are too few to tell anything: give at least {n['fewest']}, better some hundred."


def _more_units(n: Numbers) -> str:
    return (
        f"{n['units']:,} {n['unit']} are too few to be sure: if letting the tool choose really gains "
        f"{signed(n['gain'])}, about {n['needed']:,} {n['unit']} would show it in four of five tries."
    )


def _bias_costs(n: Numbers) -> str:
    return (
        f"With {n['name']} every document gets a number that was made from queries: when the corpus changes, new "
        "documents must be given theirs from the saved bank of queries, and stored vectors have one dimension more."
    )


WARNING_WORDS: Mapping[str, Callable[[Numbers], str]] = MappingProxyType(
    {
        "made for cosine": _made_for_cosine,
        "dot collapses": _dot_collapses,
        "cosine collapses": _cosine_collapses,
        "every length the same": _discarded,
        "hubs": _hubs,
        "rogue dimension": _rogue_dimension,
        "too few units": _too_few,
        "more units": _more_units,
        "bias costs": _bias_costs,
    }
)
