"""The rule of task symmetry, stated and then confronted with the measurement."""

from __future__ import annotations

from offsphere.auditing.findings.case import FEWEST_UNITS, Case, Finding, gain_or_loss


def expectation(case: Case) -> list[Finding]:
    """What one expects of length on a task of this kind, and whether it is so."""
    dot = case.row("dot")
    if case.normalised or case.unreadable or dot is None or dot.p is None:
        sides = "two sides that could be exchanged" if case.symmetric else "two sides with different roles"
        return [Finding("expectation", f"This is a task of {sides}; the vectors cannot say whether length helps.", {})]
    numbers = {"difference": dot.difference, "p": dot.p, "symmetric": case.symmetric}
    measured = f"the dot product {gain_or_loss(dot)} (p = {dot.p:.2g})"
    if case.symmetric:
        rule = "The two sides could be exchanged, so length is expected to hurt"
        agrees, opposed = dot.worse, dot.better
    else:
        rule = "The two sides have different roles, so length may help if the model was trained to use it"
        agrees, opposed = dot.better, dot.worse
    units, unit = case.units
    if units < FEWEST_UNITS:
        sentence = f"{rule}; with {units} {unit} it cannot be told ({measured})."
    elif agrees:
        sentence = f"{rule}, and it does: {measured}."
    elif opposed:
        sentence = f"{rule}; measured, it is the other way round: {measured}. Believe the measurement."
    else:
        sentence = f"{rule}; measured, no difference was found: {measured}."
    return [Finding("expectation", sentence, numbers)]
