"""What to mind: wrong settings, hubs, rogue dimensions, too few queries, and what a bias costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from offsphere.wording.glossary import explanation
from offsphere.wording.written_numbers import Numbers, certainty, chance, expected_count, in_words, share, signed


def _made_for_cosine(n: Numbers) -> str:
    return (
        f"The model was made for cosine: in an index set to dot product its vectors as they are lose "
        f"{-n['dot_gain']:.4f} of {n['metric']} ({certainty(n['dot_p'])}, {chance(n['dot_p'])})."
    )


def _dot_collapses(n: Numbers) -> str:
    return (
        f"Never put the vectors as they are into an index set to dot product: it reaches {share(n['keeps'])} of "
        f"cosine's {n['metric']} ({certainty(n['dot_p'])}, {chance(n['dot_p'])})."
    )


def _cosine_collapses(n: Numbers) -> str:
    return (
        f"Never put these vectors into an index set to cosine: it reaches {share(n['keeps'])} of the dot product's "
        f"{n['metric']} ({certainty(n['dot_p'])}, {chance(n['dot_p'])}), since this model put what it knows into "
        "vector length."
    )


def _discarded(n: Numbers) -> str:
    return f"Every vector length is the same: {n['why']}."


def _hubs(n: Numbers) -> str:
    return (
        f"Hubs ({explanation('hub')}): by {n['scorer']} {n['hubs']:,} of {n['documents']:,} "
        f"documents are in the first {n['k']} of {n['lists']} queries or more, by chance "
        f"{expected_count(n['hubs_by_chance'])}. Look at the worst, {n['worst']!r}, in {n['worst_lists']:,} of "
        f"{n['queries']:,} lists: if it answers none of them, mend or remove it."
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
        f"{n['units']:,} {n['unit']} are too few to be sure: if choosing a scorer really gains "
        f"{signed(n['gain'])}, about {n['needed']:,} {n['unit']} would show it in four of five tries."
    )


def _bias_costs(n: Numbers) -> str:
    """Who makes the numbers of new documents: the bank that was saved with the scorer, or whoever makes it again."""
    if n["corpus_wide"]:
        changes = "whenever the corpus changes, the scorer must be made again for all documents"
    elif n["bank"]:
        bank = f"{n['bank']:,} quer{'ies' if n['bank'] != 1 else 'y'}"
        changes = f"when the corpus changes, new documents must be given theirs from the saved bank of {bank}"
    else:
        changes = "no bank of queries was saved, so that for new documents the scorer must be made again"
    more = f"{in_words(n['dimensions'])} dimension{'s' if n['dimensions'] != 1 else ''} more"
    return (
        f"With {n['name']} every document gets a number that was made from queries: {changes}, and stored vectors have "
        f"{more}."
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
