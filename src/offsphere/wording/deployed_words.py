"""What a collection in use does: its metric, its lengths, what its setting costs, what it returns, what it lacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import floor
from types import MappingProxyType

from offsphere.wording.choice_words import the_choice
from offsphere.wording.written_numbers import (
    Numbers,
    certainty,
    chance,
    in_words,
    share,
    signed,
    smallest_gain,
    with_interval,
)

ENOUGH = 0.95  # of the exact answer, below which somebody should look at the index
_UNKNOWN = "What they are worth cannot be told from it: to know it, embed the documents again and keep their lengths."


def _lengths_kept(n: Numbers) -> str:
    return f"{_set_to(n)}: its vectors still have their lengths, which vary by {share(n['variation'])} of their mean."


def _lost_in_engine(n: Numbers) -> str:
    how = f"{n['engine']} normalised the vectors when it stored them"
    return f"{_set_to(n)}: its lengths are gone, {how}. {_their_worth(n)}"


def _lost_before(n: Numbers) -> str:
    return (
        f"{_set_to(n)}: its lengths are gone, all vectors{' but empty ones' if n['empty'] else ''} have the length "
        f"{n['mean_length']:.4g} and had it before they came there. {_their_worth(n)}"
    )


def _their_worth(n: Numbers) -> str:
    """What lengths that are gone are worth, where vectors that have them are at hand."""
    if n["folder"] is None:
        return _UNKNOWN
    told = f"By the vectors in {n['folder']}, which still have them, the dot product"
    change = with_interval(n["dot_gain"], n["dot_low"], n["dot_high"])
    chances = f" ({certainty(n['dot_p'])}, {chance(n['dot_p'])})" if n["dot_p"] is not None else ""
    sure = f"{change} of {n['dot_metric']}{chances}"
    if n["certain"] and n["dot_gain"] > 0:
        return f"{told} is worth {sure} more than cosine: store these, which offsphere export dot does."
    if n["certain"]:
        return f"{told} differs from cosine by {sure}: they are no loss."
    return f"{told} differs from cosine by {sure}: whether they are worth anything cannot be told."


def _changed(n: Numbers) -> str:
    """The vectors are those of an export, to which raw queries do not belong."""
    scorer = f" for {_the(n['made_for'])}" if n["made_for"] else ""
    return (
        f"{_index(n)} holds what an export made of the vectors{scorer}: its lengths are not the model's, it is to be "
        "asked with scorer.query(vectors), and what is compared here with raw queries is not what it serves. Audit the "
        "vectors that were exported."
    )


def _index(n: Numbers) -> str:
    """Name the index in use: whose it is, its kind, and its size."""
    rows = f"{n['rows']:,} vector{'s' if n['rows'] != 1 else ''}"
    return f"Your index ({n['engine']}, {n['index']}, {rows})"


def _set_to(n: Numbers) -> str:
    """Name the index and its metric."""
    index = _index(n)
    if n["setting"] is None:
        return f"{index} has no metric that can be judged, as it is chosen with each query or not known here"
    return f"{index} is set to {n['setting']}"


def _keep(n: Numbers) -> str:
    if n["name"] == n["deployed"]:
        return f"Keep its setting: it ranks by {_the(n['name'])}, which is recommended."
    return f"Keep its setting: by {n['setting']} these vectors rank as by {_the(n['name'])}, which is recommended."


def _costs(n: Numbers) -> str:
    """The recommended scorer is surely better than what the index is set to."""
    sure = f"{_change(n)} of {n['metric']}{_chance(n)}"
    if n["gain_high"] is not None and n["gain_high"] < n["worth"]:
        return (
            f"Its setting costs too little to matter: {_recommended(n)} is better than {_the(n['deployed'])} by "
            f"{sure}, which is less than {smallest_gain(n['worth'])}."
        )
    worth = f"{_recommended(n)} is worth {sure} more than {_the(n['deployed'])}"
    return f"Its setting costs quality: {worth}. {_cure(n)}{_baseline_alone(n)}"


def _baseline_alone(n: Numbers) -> str:
    """How much of that the baseline brings, which is the smaller change to make and may be enough."""
    if n["alone"] is None:
        return ""
    change = with_interval(n["alone"], n["alone_low"], n["alone_high"])
    name = _the(n["baseline"]).capitalize()
    return f" {name} alone brings {change} of it ({certainty(n['alone_p'])}, {chance(n['alone_p'])})."


def _recommended(n: Numbers) -> str:
    """The recommended scorer; or the choice that fell on it, where the numbers are those of choosing."""
    name = _the(n["name"])
    return the_choice(n, name) if n["choices"] is not None else name


def _may_cost(n: Numbers) -> str:
    unsure = "" if n["p"] is not None else ", and this metric does not tell whether that is chance"
    return (
        f"Whether its setting costs anything cannot be told: {_the(n['name'])}, which is recommended, differs from "
        f"{_the(n['deployed'])} by {_change(n)} of {n['metric']}{_chance(n)}{unsure}."
    )


def _better(n: Numbers) -> str:
    change = with_interval(-n["gain"], _minus(n["gain_high"]), _minus(n["gain_low"]))
    return (
        f"Keep its setting: {_the(n['deployed'])} does not do worse than {_the(n['name'])}, which is recommended, but "
        f"better by {change} of {n['metric']}{_chance(n)}."
    )


def _cure(n: Numbers) -> str:
    """What to change so that the engine serves what is recommended."""
    return {
        "metric": f"The vectors can stay as they are: set {n['cure_setting']}.",
        "vectors": _other_vectors(n),
        "re-rank": f"{n['engine']} cannot serve it: fetch a few hundred as now, and re-rank them.",
    }[n["cure"]]


def _other_vectors(n: Numbers) -> str:
    """What must become of the vectors that are stored; the documents need not be embedded again."""
    if n["name"] == "cosine":
        return (
            "Divide the stored vectors and every query by their lengths (offsphere export does it): nothing has to be "
            "embedded again."
        )
    return "That needs other vectors than are stored: offsphere export makes them."


def _answers(n: Numbers) -> str:
    """What the index returned of the exact answer; a share is never rounded up to all."""
    best = f"the exact {in_words(n['k'])} best" if n["k"] != 1 else "the exact best one"
    part = f"all of {best}" if n["recall"] >= 1 else f"{floor(1000 * n['recall']) / 10:.1f} % of {best}"
    asked = f"asked with {n['queries']:,} quer{'ies' if n['queries'] != 1 else 'y'} and no settings of your own"
    short = ""
    if n["short"]:
        short = f"; {n['short']:,} of them got fewer than {n['k']:,}, the fewest {n['fewest']:,}"
    cure = ": let it look at more candidates (ef, or nprobe)" if n["recall"] < ENOUGH or n["short"] else ""
    return f"Your index returns {part} by its own metric, {asked}{short}{cure}."


def _refuses(n: Numbers) -> str:
    return f"Your index does not give {n['k']:,} documents to a query that sets nothing else: {n['refused']}."


def _differs(n: Numbers) -> str:
    parts = []
    if n["missing"]:
        have = "is" if n["missing"] == 1 else "are"
        parts.append(f"{n['missing']:,} of the task's {n['documents']:,} documents {have} not in it")
    if n["unknown"]:
        belong = "belongs" if n["unknown"] == 1 else "belong"
        parts.append(f"{n['unknown']:,} of its {n['rows']:,} vectors {belong} to no document of the task")
    return f"Your index and the task differ: {' and '.join(parts)}; they were left out."


def _change(n: Numbers) -> str:
    return with_interval(n["gain"], n["gain_low"], n["gain_high"]) if n["gain_low"] is not None else signed(n["gain"])


def _chance(n: Numbers) -> str:
    """How sure that is, the p, and what it is of where the table does not have it."""
    pair = " for these two alone" if n["pair"] else ""
    return f" ({certainty(n['p'])}, {chance(n['p'])}{pair})" if n["p"] is not None else ""


def _minus(value: float | None) -> float | None:
    return -value if value is not None else None


def _the(name: str) -> str:
    """Write the name of a scorer as it stands in a sentence."""
    return {"dot": "the dot product", "euclidean": "euclidean distance"}.get(name, name)


DEPLOYED_WORDS: Mapping[str, Callable[[Numbers], str]] = MappingProxyType(
    {
        "index keeps lengths": _lengths_kept,
        "index holds changed vectors": _changed,
        "engine threw lengths away": _lost_in_engine,
        "lengths lost before": _lost_before,
        "setting is recommended": _keep,
        "setting costs": _costs,
        "setting may cost": _may_cost,
        "setting is better": _better,
        "index answers": _answers,
        "index refuses": _refuses,
        "index and task differ": _differs,
    }
)
