"""Which side to normalise when one fine-tunes: a length that loses as it stands is never recommended to be kept."""

from __future__ import annotations

from math import isfinite

from offsphere.auditing.findings.case import Case
from offsphere.geometry.relevance import way_of
from offsphere.wording.finding import Finding


def sides_to_normalize(case: Case) -> list[Finding]:
    """Both sides of a symmetric task; the query alone only where the document's length surely helps already."""
    if case.symmetric:
        return [Finding(topic="training", claim="normalise both sides", numbers={"symmetric": True}, certainty="sure")]
    relevance = case.relevance
    numbers = case.dot | {"within_d": None, "within": None}
    if relevance is not None and isfinite(relevance.within.d.value):
        value, low, high = relevance.within.d
        way = way_of(relevance.within.d)
        numbers |= {"within_d": value, "within_d_low": low, "within_d_high": high, "within": way}
    if numbers["dot"] == "gains":
        return [
            Finding(
                topic="training",
                claim="keep the document's length",
                numbers=numbers,
                direction="up",
                certainty="sure",
            )
        ]
    return [Finding(topic="training", claim="start with both sides", numbers=numbers, certainty="unsure")]
