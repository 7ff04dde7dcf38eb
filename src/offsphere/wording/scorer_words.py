"""What to do, what it buys, how sure that is, and then the numbers: sentences on which scorer to use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from types import MappingProxyType

from offsphere.statistics.significance import ALPHA
from offsphere.wording.choice_words import the_choice, tries
from offsphere.wording.index_words import index_words
from offsphere.wording.metric_phrases import named_metric
from offsphere.wording.written_numbers import (
    Numbers,
    better_range,
    certainty,
    chance,
    share,
    signed,
    smallest_gain,
    with_interval,
)


def _better(n: Numbers) -> str:
    """The choice was tested as a whole: chosen on some units, judged on others."""
    return f"{_use(n)}. On {_apart(n)} {_rises(n, '')}.{_often(n)}"


def _planned_better(n: Numbers) -> str:
    """One of the two comparisons that everybody asks for: dot, or what the model declares."""
    return f"{_use(n)}. On {_units(n)} {_rises(n, '')}."


def _row_better(n: Numbers) -> str:
    """A row that is better though all rows were tested together."""
    return f"{_use(n)}. On {_units(n)} {_rises(n, ', corrected')}."


def _sure_but_small(n: Numbers) -> str:
    return (
        f"{_stay(n)}. Surely nothing worth having is missed: on {_apart(n)} {the_choice(n, n['name'])} takes "
        f"{named_metric(n['metric'])} from {_from_to(n)} ({_change(n)}, {chance(n['p'])}), which is less than "
        f"{_worth(n)}."
    )


def _nothing_gains_enough(n: Numbers) -> str:
    best = f"at most {signed(n['most_to_gain'])}" if n["most_to_gain"] > 0 else "nothing"
    best = "less than 0.0001" if 0 < n["most_to_gain"] < 0.00005 else best  # noqa: PLR2004
    return (
        f"{_stay(n)}. Surely nothing worth having is missed: on {_units(n)} {_best_of(n['others'])} gains {best} on "
        f"{n['baseline']}'s {named_metric(n['metric'])} of {n['baseline_value']:.4f}, which is less than {_worth(n)}."
    )


def _nothing_surely_better(n: Numbers) -> str:
    return (
        f"{_stay(n)}. Nothing better could be shown, nor ruled out: on {_units(n)} it has "
        f"{named_metric(n['metric'])} {n['baseline_value']:.4f}; {_best_of(n['others'])}, {n['first']}, has "
        f"{n['baseline_value'] + n['first_gain']:.4f}, which {certainty(n['first_p'])} ({_first_change(n)}, "
        f"{_first_chance(n)}){_followed(n)}."
    )


def _row_better_choice_unsure(n: Numbers) -> str:
    """A row of the table passes its test, but choosing so on some units does not surely gain on others."""
    little = ", which is too little to matter" if n["first_high"] < n["worth"] else ""
    followed = _followed(n) or f"; nothing could be chosen that gains {_worth(n)}"
    return (
        f"{_stay(n)}. No choice of another one holds up: on {_units(n)} {n['first']} takes {named_metric(n['metric'])} "
        f"from {n['baseline_value']:.4f} to {n['baseline_value'] + n['first_gain']:.4f}, {certainty(n['first_p'])} "
        f"({_first_change(n)}, {_first_chance(n)}){little}{followed}."
    )


def _nothing_higher(n: Numbers) -> str:
    return (
        f"{_stay(n)}. On {_units(n)} nothing that was compared has a higher {named_metric(n['metric'])} than its "
        f"{n['baseline_value']:.4f}."
    )


def _one_length(n: Numbers) -> str:
    return (
        f"Keep {n['baseline']}: {_set(n)} or {'' if n['pairs'] else 'to '}dot product (inner product). All vectors "
        f"that are ranked have the same length, so both rank exactly alike ({n['metric']} {n['baseline_value']:.4f} on "
        f"{_units(n)}), and the dot product costs less to serve."
    )


def _all_alike(n: Numbers) -> str:
    return f"{_stay(n)}. All that was compared ranks alike ({n['metric']} {n['baseline_value']:.4f} on {_units(n)})."


def _too_few(n: Numbers) -> str:
    return (
        f"{_stay(n)}. Nothing can be told: {_units(n)} are too few to choose by (it has {n['metric']} "
        f"{n['baseline_value']:.4f})."
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


def _use(n: Numbers) -> str:
    """What to use, instead of what an index is set to or else the baseline, what to do, and what that scorer does."""
    instead = f"{_the(n['used'])} that your index is set to" if _replaces_setting(n) else n["baseline"]
    return f"Use {_the(n['name'])} instead of {instead}: {_set(n)}. It means: {n['phrase']}"


def _replaces_setting(n: Numbers) -> bool:
    """Whether an index is set to something that is neither recommended nor what all are held against."""
    return bool(n["used_by_index"] and n["used_otherwise"])


def _units(n: Numbers) -> str:
    """How many there are, and that no person judged them where that is so."""
    made = " (judged by a program, not by people)" if n["made"] else ""
    return f"{n['units']:,} {n['unit']}{made}"


def _apart(n: Numbers) -> str:
    """How many there are, and that what is said of each was chosen without it."""
    return f"{_units(n)}, each judged by a choice in which it had no say,"


def _often(n: Numbers) -> str:
    """That the choice fell on another scorer too, where it did: then the gain is that of the choice."""
    often = tries(n)
    though = "" if round(n["chosen_share"] * n["choices"]) else f", though all {n['unit']} together choose it"
    return (
        f" It was chosen in {often}{though}, and the gain is that of following the choice, whatever it fell on."
        if often
        else ""
    )


def _rises(n: Numbers, corrected: str) -> str:
    """From which value to which, what that buys, how sure it is, and the numbers in brackets."""
    base = n["baseline_value"]
    numbers = f"({_change(n)}, {chance(n['p'])}{corrected})"
    whose = f"{n['baseline']}'s " if _replaces_setting(n) else ""
    rises = f"{named_metric(n['metric'])} rises from {whose}{_from_to(n)}"
    if base <= 0:
        return f"{rises}, {certainty(n['p'])} {numbers}"
    buys = _buys(n["gain"] / base, n["gain_low"] / base, n["gain_high"] / base)
    return f"{rises}: {buys}, {certainty(n['p'])} {numbers}"


def _buys(gain: float, low: float, high: float) -> str:
    """A gain as a share of what it is on top of; 270 % better would be read as 2.7 times by some, as 3.7 by others."""
    known = isfinite(low) and isfinite(high)
    if gain <= 1:
        return f"{share(gain)} better{f' ({better_range(low, high)})' if known else ''}"
    return f"{1 + gain:.2g} times as high{f' (between {1 + low:.2g} and {1 + high:.2g} times)' if known else ''}"


def _from_to(n: Numbers) -> str:
    return f"{n['baseline_value']:.4f} to {n['baseline_value'] + n['gain']:.4f}"


def _worth(n: Numbers) -> str:
    return f"the smallest gain that matters, {smallest_gain(n['worth'])}"


def _change(n: Numbers) -> str:
    return with_interval(n["gain"], n["gain_low"], n["gain_high"])


def _first_change(n: Numbers) -> str:
    return with_interval(n["first_gain"], n["first_low"], n["first_high"])


def _first_chance(n: Numbers) -> str:
    return f"{chance(n['first_p'])}, {'tested alone' if n['first_planned'] else 'corrected'}"


def _best_of(others: int) -> str:
    return f"the best of {others:,} others" if others > 1 else "the other scorer"


def _followed(n: Numbers) -> str:
    """What following the tool's choice brought on units that had no say in it, where that was tried."""
    if n["gain"] is None:
        return ""
    change = f"{_change(n)}, {chance(n['p'])}"
    if n["p"] >= ALPHA:
        return f"; choosing by some {n['unit']} did not surely gain on others ({change})"
    if n["gain"] <= 0:
        return f"; choosing by some {n['unit']} loses on others ({change})"
    back = f", though all {n['unit']} together choose {n['baseline']}" if n["name"] == n["baseline"] else ""
    return f"; choosing by some {n['unit']} gains on others ({change}){back}"


def _stay(n: Numbers) -> str:
    """Keep the baseline, or take it where an index is set to something else; stop using what surely loses."""
    if not n["used_loses"]:
        verb = "Take" if n["used_by_index"] and n["used_otherwise"] else "Keep"
        return f"{verb} {n['baseline']}: {_set(n)}"
    keeps = n["used_keeps"]
    loses = f"which reaches {share(keeps)} of {n['baseline']}'s {n['metric']}" if keeps is not None else "which loses"
    who = "your index is set to" if n["used_by_index"] else "this model declares"
    return (
        f"Stop using {_the(n['used'])} that {who} ({loses}, {certainty(n['used_p'])}, {chance(n['used_p'])}) and take "
        f"{n['baseline']}: {_set(n)}"
    )


def _set(n: Numbers) -> str:
    words = index_words(n)
    return f"{words[0].lower()}{words[1:]}"


def _the(name: str) -> str:
    """Write the name of a scorer as it stands in a sentence."""
    return "the dot product" if name == "dot" else name


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
