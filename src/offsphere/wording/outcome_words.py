"""What a training came to: better or worse than before as it was trained, and what cosine makes of the same vectors."""

from __future__ import annotations

from offsphere.wording.written_numbers import Numbers, certainty, chance, smallest_gain, with_interval


def told_of_training(n: Numbers) -> str:
    """Say what a training came to.

    Args:
        n: ``why_not`` (why nothing can be told, or empty), ``worth``, and for ``gain`` (as trained, over cosine before)
            and ``cosine`` (of the same vectors, over the score that was trained for) the state (``up``, ``down``,
            ``equal`` or ``none``), and under ``_low``, ``_high`` and ``_p`` the numbers behind it.

    Returns:
        A sentence or two.
    """
    if n["why_not"]:
        return f"What the training is worth cannot be told: {n['why_not']}."
    return f"{_gain(n)}{_cosine(n)}"


def _gain(n: Numbers) -> str:
    state = n["gain_state"]
    if state in ("up", "down"):
        where = "above" if state == "up" else "below"
        return f"Scored as it was trained, the model is {where} what cosine found before, {_numbers(n, 'gain')}."
    if state == "equal":
        return (
            "Scored as it was trained, the model differs from what cosine found before by less than "
            f"{smallest_gain(n['worth'])}, the smallest gain that matters ({_change(n, 'gain')})."
        )
    return (
        "Whether the training helped cannot be told: scored as it was trained, the model differs from what cosine "
        f"found before by a change that {_numbers(n, 'gain')}."
    )


def _cosine(n: Numbers) -> str:
    """What to make of cosine of the same vectors, where it surely differs."""
    if n["cosine_state"] == "up":
        return (
            f" Cosine of the same vectors is above that, {_numbers(n, 'cosine')}: serve it by cosine, or train with "
            "both sides normalised."
        )
    if n["cosine_state"] == "down":
        return f" Cosine of the same vectors is below that, {_numbers(n, 'cosine')}: its vector lengths help."
    return ""


def _numbers(n: Numbers, name: str) -> str:
    """How sure a change is, and its numbers in brackets."""
    return f"{certainty(n[f'{name}_p'])} ({_change(n, name)})"


def _change(n: Numbers, name: str) -> str:
    return f"{with_interval(n[name], n[f'{name}_low'], n[f'{name}_high'])}, {chance(n[f'{name}_p'])}"
