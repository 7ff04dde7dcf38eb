"""Whether length carries relevance, and whether that survives the control for text length."""

from __future__ import annotations

from offsphere.auditing.findings.case import Case, Finding, difference_with_interval, gain_or_loss
from offsphere.comparison.row import Row
from offsphere.geometry.length import NORMALISED
from offsphere.geometry.relevance import Relevance


def length_and_relevance(case: Case) -> list[Finding]:
    """What the lengths of relevant documents are like, or, where that was not measured, what the dot product does."""
    if case.normalised:
        return [Finding("length", f"What length is worth cannot be told: {NORMALISED}.", {})]
    relevance, dot = case.shape.relevance, case.row("dot")
    if relevance is None:
        return [_by_dot_product(dot)]
    against = ""
    if dot is not None and dot.p is not None:
        against = f"; the plain dot product {gain_or_loss(dot)} against cosine (p = {dot.p:.2g})"
    control = relevance.d_adjusted if relevance.d_adjusted is not None else relevance.d
    numbers = {"d": relevance.d.value, "d_adjusted": control.value, "within": relevance.within.d.value}
    return [Finding("length", f"{_lengths_of_relevant(relevance)}{against}.", numbers)]


def _by_dot_product(dot: Row | None) -> Finding:
    if dot is None or dot.p is None:
        return Finding("length", "Length and relevance were not measured here.", {})
    worth = "helps" if dot.better else "hurts" if dot.worse else "makes no difference that could be told"
    sentence = f"Length {worth}: the dot product differs by {difference_with_interval(dot)} (p = {dot.p:.2g})."
    return Finding("length", sentence, {"difference": dot.difference, "p": dot.p})


def _lengths_of_relevant(relevance: Relevance) -> str:
    d, adjusted = relevance.d, relevance.d_adjusted
    if not d.excludes_zero:
        return f"Between the lengths of relevant documents and others no difference was found (d = {d})"
    sentence = f"Relevant documents have {'longer' if d.value > 0 else 'shorter'} vectors (d = {d})"
    if adjusted is None:
        return sentence
    if adjusted.excludes_zero and adjusted.value * d.value > 0:
        return f"{sentence}, and that survives the control for text length (d = {adjusted})"
    if relevance.in_disguise:
        return f"{sentence}, but only as text length in disguise (controlled for it, d = {adjusted})"
    return f"{sentence}, which cannot be told from chance once text length is controlled for (d = {adjusted})"
