"""What many audits say together, in words: whether length helps, what predicts it, and what is safe everywhere."""

from __future__ import annotations

from offsphere.wording.written_numbers import Numbers, in_words, share, signed, with_interval

ENOUGH = 5  # tasks: below that no interval over tasks is given
PREDICTORS = {
    "d": "Cohen's d of the lengths of relevant documents",
    "d_adjusted": "Cohen's d with text length held fixed",
    "d_within": "Cohen's d beside rivals",
    "length_variation": "how much lengths vary",
    "skew": "how unevenly relevance is spread over documents",
    "ceiling_gain": "what documents alone are worth",
    "curve_gain": "what a curve of today's lengths is worth",
}


def study_sentences(n: Numbers) -> list[str]:
    """Say what a meta-analysis found.

    Args:
        n: The numbers of a ``MetaAnalysis`` as plain values.

    Returns:
        A sentence a conclusion; what too few tasks cannot tell is said to be so.
    """
    return [*_few(n), *_dot(n), *_symmetry(n), *_predicted(n), *_safe(n), *_following(n)]


def _few(n: Numbers) -> list[str]:
    if n["tasks"] >= ENOUGH:
        return []
    are = "task is" if n["tasks"] == 1 else "tasks are"
    count = in_words(n["tasks"]).capitalize()
    return [f"{count} {are} too few to say anything of others: give at least {ENOUGH}."]


def _dot(n: Numbers) -> list[str]:
    if n["dot"] is None:
        return ["The dot product and cosine cannot differ on any of these tasks."]
    mean, spread = n["dot"]["mean"], n["dot"]["deviation"]
    sentence = (
        f"Length as it stands {_verb(mean)}: over {_tasks(n)} the dot product changes the metric by {_interval(mean)} "
        f"against cosine; the tasks themselves differ by {spread:.4f} (standard deviation), and chance explains "
        f"{share(1 - n['dot']['share'])} of their spread."
    )
    return [sentence]


def _symmetry(n: Numbers) -> list[str]:
    both = n["symmetric"], n["asymmetric"]
    if None in both:
        only = "with two roles" if n["symmetric"] is None else "whose sides could be exchanged"
        return [f"Whether symmetry decides cannot be told: there are only tasks {only}."]
    inside, outside = (_interval(half["mean"]) for half in both)
    where = "Where the sides could be exchanged the dot product changes the metric by"
    return [f"{where} {inside}; where they have roles, by {outside}."]


def _predicted(n: Numbers) -> list[str]:
    known = [each for each in n["predictors"] if each["correlation"]["value"] is not None]
    sentences = []
    for each in known:
        correlation = each["correlation"]
        sure = correlation["low"] is not None and (correlation["low"] > 0 or correlation["high"] < 0)
        steady = each["without_one"][0] * each["without_one"][1] > 0
        helps = each["explained"] > 0
        verdict = (
            "predicts what the dot product gains"
            if sure and steady and helps
            else "goes with what the dot product gains, but does not predict it for a task left out"
            if sure and steady
            else "does not predict what the dot product gains"
        )
        low, high = each["without_one"]
        sentences.append(
            f"{PREDICTORS[each['name']][0].upper()}{PREDICTORS[each['name']][1:]} {verdict}: Spearman "
            f"{correlation['value']:+.2f}{_ends(correlation)} over {each['rows']} rows of {each['tasks']} tasks, "
            f"{low:+.2f} to {high:+.2f} when one task is left out; of a task left out it explains "
            f"{share(max(each['explained'], 0.0))}."
        )
    return sentences


def _safe(n: Numbers) -> list[str]:
    scorers = [each for each in n["scorers"] if each["name"] != "cosine"]
    if not scorers:
        return []
    safe = [each for each in scorers if not each["surely_worse"] and each["mean"] > 0]
    if not safe:
        every = f"each of the {len(scorers)} other scorers is surely worse on some task, or gains nothing on average"
        return [f"Nothing is safe everywhere but cosine: {every}."]
    best = safe[0]
    others = ("", " So is one other.")[len(safe) - 1] if len(safe) < 3 else f" So are {in_words(len(safe) - 1)} others."  # noqa: PLR2004
    sentence = (
        f"Safe everywhere: {best['name']} gains {signed(best['mean'])} on average, is surely better on "
        f"{best['surely_better']} of {best['rows']} rows and surely worse on none; at worst it loses "
        f"{max(-best['worst'], 0):.4f} ({best['worst_row']}).{others}"
    )
    return [sentence]


def _following(n: Numbers) -> list[str]:
    sentences = []
    if n["following"] is not None:
        sentences.append(f"Following the tool on each task changes the metric by {_interval(n['following']['mean'])}.")
    if n["carried_over"] is not None:
        sentences.append(
            f"Taking for each task what is best on average on all others changes it by {_interval(n['carried_over'])}."
        )
    return sentences


def _verb(mean: Numbers) -> str:
    if mean["low"] is None or mean["low"] <= 0 <= mean["high"]:
        return "neither helps nor hurts for certain"
    return "helps" if mean["value"] > 0 else "hurts"


def _interval(mean: Numbers) -> str:
    return with_interval(mean["value"], mean["low"], mean["high"])


def _ends(mean: Numbers) -> str:
    return f" [{mean['low']:+.2f}, {mean['high']:+.2f}]" if mean["low"] is not None else ""


def _tasks(n: Numbers) -> str:
    return f"{in_words(n['tasks'])} task{'' if n['tasks'] == 1 else 's'}"
