"""What to do, what it buys, how sure that is, and then the numbers: sentences on which scorer to use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from types import MappingProxyType
from typing import Any

from offsphere.wording.metric_phrases import gain_phrase
from offsphere.wording.written_numbers import ALPHA, chance, share, signed, threshold, with_interval

Numbers = Mapping[str, Any]


def _better(n: Numbers) -> str:
    """The choice was tested as a whole: chosen on some units, judged on others."""
    often = f", chosen in {share(n['chosen_share'])} of {n['choices']:,} tries" if n["chosen_share"] < 1 else ""
    return (
        f"Use {n['name']} instead of {n['baseline']}: {n['phrase']}. {_bought(n)}, and that is hardly luck: "
        f"on {n['unit']} that took no part in the choice {n['metric']} changes by {_change(n)} from "
        f"{n['baseline_value']:.4f} ({chance(n['p'])}{often}){_made(n)}."
    )


def _planned_better(n: Numbers) -> str:
    """One of the two comparisons that everybody asks for: dot, or what the model declares."""
    return (
        f"Use {_the(n['name'])} instead of {n['baseline']}: {n['phrase']}. {_bought(n)}, and that is hardly luck: "
        f"{n['metric']} {n['value']:.4f} against {n['baseline_value']:.4f}, {_change(n)} ({chance(n['p'])}){_made(n)}."
    )


def _row_better(n: Numbers) -> str:
    """A row that is better though all rows were tested together."""
    return (
        f"Use {n['name']} instead of {n['baseline']}: {n['phrase']}. {_bought(n)}, and that is hardly luck: "
        f"{n['metric']} {n['value']:.4f} against {n['baseline_value']:.4f}, {_change(n)} ({chance(n['p'])}, "
        f"{_corrected(n)}){_made(n)}."
    )


def _sure_but_small(n: Numbers) -> str:
    return (
        f"{_stay(n)}: {n['name']} is better, but by too little to matter. On {n['unit']} that took no part "
        f"in the choice {n['metric']} changes by {_change(n)} from {n['baseline_value']:.4f} ({chance(n['p'])}), which "
        f"is less than {threshold(n['worth'])}{_made(n)}."
    )


def _nothing_gains_enough(n: Numbers) -> str:
    best = f"at most {signed(n['most_to_gain'])}" if n["most_to_gain"] > 0 else "nothing"
    best = "less than 0.0001" if 0 < n["most_to_gain"] < 0.00005 else best  # noqa: PLR2004
    return (
        f"{_stay(n)}: no scorer gains as much as {threshold(n['worth'])} on its {n['metric']} of "
        f"{n['baseline_value']:.4f} (the best gains {best}){_made(n)}."
    )


def _nothing_surely_better(n: Numbers) -> str:
    return (
        f"{_stay(n)}: {_none_of(n['others'])} surely better than its {n['metric']} of "
        f"{n['baseline_value']:.4f}. First comes {n['first']} with {_first_change(n)}, which may be luck "
        f"({_first_chance(n)}){_followed(n)}{_made(n)}."
    )


def _row_better_choice_unsure(n: Numbers) -> str:
    """A row of the table passes its test, but choosing so on some units does not surely gain on others."""
    little = ", which is too little to matter" if n["first_high"] < n["worth"] else ""
    followed = (
        f"letting the tool choose changed {n['metric']} by {_change(n)} from {n['baseline_value']:.4f} "
        f"({chance(n['p'])}){', which may be luck' if n['p'] >= ALPHA else _comes_back(n)}"
        if n["gain"] is not None
        else f"nothing could be chosen that gains {threshold(n['worth'])}"
    )
    return (
        f"{_stay(n)}: {followed}. In the table {n['first']} is better by {_first_change(n)} ({_first_chance(n)})"
        f"{little}{_made(n)}."
    )


def _nothing_higher(n: Numbers) -> str:
    return f"{_stay(n)}: nothing ranks better than its {n['metric']} of {n['baseline_value']:.4f}{_made(n)}."


def _one_length(n: Numbers) -> str:
    return (
        f"Keep cosine: all vectors that it ranks have the same length, so the dot product ranks exactly as it does "
        f"({n['metric']} {n['baseline_value']:.4f}) and costs less to serve{_made(n)}."
    )


def _all_alike(n: Numbers) -> str:
    return f"{_stay(n)}: all that was compared ranks alike ({n['metric']} {n['baseline_value']:.4f}){_made(n)}."


def _too_few(n: Numbers) -> str:
    return (
        f"{_stay(n)}: {n['units']:,} {n['unit']} are too few to choose by (it has {n['metric']} "
        f"{n['baseline_value']:.4f}){_made(n)}."
    )


def _no_choice(n: Numbers) -> str:
    if not isfinite(n["baseline_value"]):
        why = f"no {n['metric']}: it gives all {n['units']:,} {n['unit']} one score, or none"
    else:
        why = (
            f"a {n['metric']} of {n['baseline_value']:.4f}, surely below zero, so the gold scores seem to be "
            "distances, or turned round"
        )
    return f"Do not choose by this task: {n['baseline']} has {why}. Until that is mended, stay with {n['baseline']}."


def _higher_row(n: Numbers) -> str:
    """A row with a higher value than what is recommended, which is simpler or was chosen more soundly."""
    sure = f" ({chance(n['p'])} for these two alone)" if n["p"] is not None else ""
    return (
        f"In the table {n['best']} has a higher value ({n['best_value']:.4f} against {n['value']:.4f} for {n['name']})"
        f"{sure}; the first of many rows is always a little too good."
    )


def _against_declared(n: Numbers) -> str:
    sure = f" ({chance(n['p'])} for these two alone)" if n["p"] is not None else ""
    return (
        f"The model declares {n['declared']}, which reaches {n['metric']} {n['declared_value']:.4f}; {n['name']} "
        f"differs from it by {signed(n['difference'])}{sure}."
    )


def _change(n: Numbers) -> str:
    return with_interval(n["gain"], n["gain_low"], n["gain_high"])


def _first_change(n: Numbers) -> str:
    return with_interval(n["first_gain"], n["first_low"], n["first_high"])


def _first_chance(n: Numbers) -> str:
    return f"{chance(n['first_p'])}, {'tested alone' if n['first_planned'] else _corrected(n)}"


def _corrected(n: Numbers) -> str:
    return f"corrected for {n['rows']:,} row{'s' if n['rows'] != 1 else ''}"


def _none_of(others: int) -> str:
    return f"of {others:,} other scorers none is" if others > 1 else "the other scorer is not"


def _followed(n: Numbers) -> str:
    """What following the tool's choice brought on units that took no part in it, where that was tried."""
    if n["gain"] is None:
        return ""
    return f"; letting the tool choose changed {n['metric']} by {_change(n)} ({chance(n['p'])}){_comes_back(n)}"


def _comes_back(n: Numbers) -> str:
    """On parts of the units something gains, and on all of them the rule takes the baseline."""
    comes_back = n["p"] < ALPHA and n["gain"] > 0 and n["name"] == n["baseline"]
    return f", though by all {n['unit']} it chooses {n['baseline']}" if comes_back else ""


def _bought(n: Numbers) -> str:
    """What the gain buys, as a sentence without its stop; a metric at or below zero has no relative gain."""
    if n["baseline_value"] <= 0:
        return f"Its {n['metric']} gets better"
    text = gain_phrase(n["metric"], n["gain"] / n["baseline_value"])
    return f"{text[0].upper()}{text[1:]}"


def _stay(n: Numbers) -> str:
    """Keep the baseline; where the model declares something that surely loses, stop using that."""
    if not n["declared_loses"]:
        return f"Keep {n['baseline']}"
    keeps = n["declared_keeps"]
    loses = f"it reaches {share(keeps)} of {n['baseline']}'s {n['metric']}" if keeps is not None else "it loses"
    return (
        f"Stop using {_the(n['declared'])}, which this model declares, and take {n['baseline']} ({loses}, "
        f"{chance(n['declared_p'])})"
    )


def _the(name: str) -> str:
    """Write the name of a scorer as it stands in a sentence."""
    return "the dot product" if name == "dot" else name


def _made(n: Numbers) -> str:
    return ", on judgments that are made, not human" if n["made"] else ""


SCORER_WORDS: Mapping[str, Callable[[Numbers], str]] = MappingProxyType(
    {
        "better": _better,
        "planned better": _planned_better,
        "row better": _row_better,
        "sure but small": _sure_but_small,
        "nothing gains enough": _nothing_gains_enough,
        "nothing surely better": _nothing_surely_better,
        "row better, choice unsure": _row_better_choice_unsure,
        "nothing higher": _nothing_higher,
        "one length": _one_length,
        "all alike": _all_alike,
        "too few to choose": _too_few,
        "no choice": _no_choice,
        "higher row": _higher_row,
        "against declared": _against_declared,
    }
)
