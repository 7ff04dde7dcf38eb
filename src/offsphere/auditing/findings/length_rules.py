"""Whether length carries relevance: one story from the corpus, the control for text length, and the rivals."""

from __future__ import annotations

from offsphere.auditing.findings.case import Case
from offsphere.comparison.verdict import dot_direction
from offsphere.geometry.length import NORMALISED
from offsphere.geometry.relevance import Relevance
from offsphere.wording.finding import Finding


def length_and_relevance(case: Case) -> list[Finding]:
    """What the lengths of relevant documents are like and what the dot product does, or why that cannot be told."""
    dot = case.dot
    direction, certainty = dot_direction(dot["dot"])
    if case.normalised:
        return [Finding(topic="length", claim="length discarded", numbers={"why": NORMALISED})]
    relevance = case.shape.relevance
    why = _why_no_relevance(case, relevance)
    if why is None and relevance is not None:
        numbers = {**dot, **relevance.story}
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
    return [Finding(topic="length", claim=claim, numbers={**dot, "why": why}, direction=direction, certainty=certainty)]


def _why_no_relevance(case: Case, relevance: Relevance | None) -> str | None:
    """Say why lengths of relevant documents say nothing here; nothing where they do."""
    if relevance is None:
        return case.shape.skipped.get("relevance", "it was not asked for").removeprefix("length and relevance: ")
    return relevance.made_and_covering or None
