"""Rules of thumb of a paper that foretell from lengths which variant ranks better: each is judged by that ranking."""

from __future__ import annotations

from math import isnan
from typing import NamedTuple

from offsphere.learning.ablation.claims import FENG, Claim

FAVOURS_DOCUMENT = (4.0, 9.0)  # ratio of query variations, document-trained over dot-trained (Feng & Watanabe 2026)
FAVOURS_QUERY = (0.5, 2.0)
WORTH_USING, MERE_NOISE = 0.1, 0.05  # variation of document lengths (Feng & Watanabe 2026)

RATIO = "the ratio of query variations, document-trained over dot-trained, tells which side to normalise"
VARIATION = "how much document lengths vary tells whether keeping them helps"


class RulePrediction(NamedTuple):
    """What a rule says here: the claim it makes of the ranking, or why it makes none; its quantity in both cases."""

    claim: Claim | None
    text: str
    why_not: str
    quantity: str


def by_ratio(ratio: float) -> RulePrediction | None:
    """What the ratio of query variations, document-trained over dot-trained, says of the ranking.

    From 4 to 9 it favours normalising the document, from 0.5 to 2 the query (Feng & Watanabe 2026).
    """
    if isnan(ratio):
        return None
    text = f"{RATIO}: {ratio:.2g} here"
    claim = None
    if FAVOURS_DOCUMENT[0] <= ratio <= FAVOURS_DOCUMENT[1]:
        claim = Claim(text, FENG, "document", "query", pairs=False)
    if FAVOURS_QUERY[0] <= ratio <= FAVOURS_QUERY[1]:
        claim = Claim(text, FENG, "query", "document", pairs=False)
    why_not = f"it is {ratio:.2g}, where 4 to 9 favours the document and 0.5 to 2 the query"
    return RulePrediction(claim, RATIO, why_not, "query_variation")


def by_variation(variation: float) -> RulePrediction | None:
    """What the variation of document lengths says of keeping them: above a tenth it helps, below a twentieth not."""
    if isnan(variation):
        return None
    text = f"{VARIATION}: {variation:.2g} here"
    claim = None
    if variation > WORTH_USING:
        claim = Claim(text, FENG, "query", "cosine", pairs=False)
    if variation < MERE_NOISE:
        claim = Claim(text, FENG, "query", "cosine", "not above", pairs=False)
    why_not = f"it is {variation:.2g}, where above 0.1 is worth using and below 0.05 is noise"
    return RulePrediction(claim, VARIATION, why_not, "document_variation")
