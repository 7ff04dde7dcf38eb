"""The rule of task symmetry, confronted with the measurement."""

from __future__ import annotations

from offsphere.auditing.findings.case import Case
from offsphere.comparison.verdict import dot_direction
from offsphere.geometry.length import LENGTHS_DISCARDED
from offsphere.wording.finding import Finding


def expectation(case: Case) -> list[Finding]:
    """What one expects of length on a task of this kind, and whether it is so."""
    dot, (units, unit) = case.dot, case.units
    numbers = {"symmetric": case.symmetric, "units": units, "unit": unit, **dot}
    if case.normalized or case.unreadable or dot["dot"] is None:
        why = (
            LENGTHS_DISCARDED
            if case.normalized
            else "the dot product was not compared with cosine, or ranks as it does"
        )
        if case.unreadable:
            why = f"{case.table.baseline} itself has no usable value on it"
        return [Finding(topic="expectation", claim="rule, no measurement", numbers={**numbers, "why": why})]
    if not case.enough:
        return [Finding(topic="expectation", claim="rule, too few units", numbers=numbers)]
    direction, certainty = dot_direction(dot["dot"])
    return [
        Finding(
            topic="expectation", claim="rule of symmetry", numbers=numbers, direction=direction, certainty=certainty
        )
    ]
