"""Whether length carries relevance: one story from the corpus, the control for text length, and the rivals."""

from __future__ import annotations

from offsphere.auditing.findings.case import Case
from offsphere.comparison.units import is_of_pairs
from offsphere.comparison.verdict import dot_direction
from offsphere.geometry.length import LENGTHS_DISCARDED
from offsphere.wording.finding import Finding


def length_and_relevance(case: Case) -> list[Finding]:
    """What the lengths of relevant documents are like and what the dot product does, or why that cannot be told."""
    dot = case.dot
    direction, certainty = dot_direction(dot["dot"])
    if case.normalized:
        return [Finding(topic="length", claim="length discarded", numbers={"why": LENGTHS_DISCARDED})]
    story = case.relevance.story if case.relevance is not None else {"raw": None, "within": None}
    if story["raw"] is not None or story["within"] is not None:
        numbers = {**dot, **story}
        return [
            Finding(
                topic="length",
                claim="length and relevance",
                numbers=numbers,
                direction=direction,
                certainty=certainty,
            )
        ]
    claim = "length not measured" if dot["dot"] is None else "length by the dot product"
    numbers = {**dot, "why": _why_no_relevance(case)}
    return [Finding(topic="length", claim=claim, numbers=numbers, direction=direction, certainty=certainty)]


def _why_no_relevance(case: Case) -> str:
    """Say why lengths of relevant documents say nothing here; nothing of pairs, which have none."""
    relevance = case.shape.relevance
    if is_of_pairs(case.table.task):
        return ""
    if relevance is None:
        why = case.shape.skipped.get("relevance", "it was not measured").removeprefix("length and relevance: ")
        return why.replace("it needs", "that needs", 1) if why.startswith("it needs") else why
    return relevance.says_nothing or "no relevant documents stand beside others"
