"""Which side to normalise when one fine-tunes."""

from __future__ import annotations

from offsphere.auditing.findings.case import Case, Finding


def sides_to_normalise(case: Case) -> list[Finding]:
    """Both sides of a symmetric task; else by whether today's lengths favour relevant documents."""
    if case.symmetric:
        sentence = (
            "If you fine-tune, normalise both sides: on a symmetric task a one-sided score depends on the order of "
            "the pair (Spearman on STS-B .788 for cosine against .413 and .371 one-sided, Feng & Watanabe 2026)."
        )
        return [Finding("training", sentence, {"symmetric": True})]
    relevance, documents = case.shape.relevance, case.shape.lengths[-1] if case.shape.lengths else None
    if relevance is None or documents is None:
        sentence = (
            "If you fine-tune, start with both sides normalised, and try the query side alone as the second run: the "
            "two sides have different roles, where models have learnt to use document length (Feng & Watanabe 2026: "
            "BRIGHT nDCG@10 7.4 with cosine, 12.7 with the query normalised); these vectors cannot say more."
        )
        return [Finding("training", sentence, {})]
    within = (relevance.within_adjusted or relevance.within).d
    if within.excludes_zero and within.value > 0:
        sentence = (
            "If you fine-tune, normalise the query only and keep document length: among documents that cosine ranks "
            f"together the relevant ones are longer (d = {within}), and lengths vary (CV {documents.variation:.2f})."
        )
    else:
        sentence = (
            "If you fine-tune, start with both sides normalised and try the query side alone as the second run: "
            f"today's lengths do not favour relevant documents (within queries d = {within}, CV "
            f"{documents.variation:.2f}), but on tasks with two roles models have learnt to use document length "
            "(Feng & Watanabe 2026)."
        )
    return [Finding("training", sentence, {"within": within.value, "variation": documents.variation})]
