"""What a metric counts, in words, for somebody who has never met its name."""

from __future__ import annotations

from offsphere.statistics.metrics import parse_metric
from offsphere.wording.written_numbers import in_words

_PAIRS = "agreement with the given scores"
_POOL = "quality of one ranking of all queries' results"


def metric_meaning(metric: str) -> str:
    """Say what a metric measures.

    Args:
        metric: its name.

    Returns:
        A few words without an article.

    Example:
        >>> metric_meaning("ndcg@10"), metric_meaning("recall@100")
        ('quality of the first ten results', 'share of what is relevant in the first 100 results')
    """
    kind = parse_metric(metric)
    first = f"the first {in_words(kind.depth)} results" if kind.depth != 1 else "the first result"
    return {
        "recall": f"share of what is relevant in {first}",
        "precision": f"share of {first} that is relevant"
        if kind.depth != 1
        else "share of queries whose first result is relevant",
        "success": f"share of queries with something relevant in {first}",
        "pooled-ap": _POOL,
        "pooled-auc": _POOL,
        "mrr": "how high the first right result stands",
        "full-recall": f"share of queries with everything relevant in {first}",
        "answer-recall": f"share of queries whose answer stands in {first}",
        "exact-match": f"share of questions that are answered exactly from {first}",
        "answer-f1": f"how many words the answers from {first} share with the right ones",
        "knn": f"share of queries whose class {first} vote for",
        "spearman": _PAIRS,
        "pearson": _PAIRS,
        "kendall": _PAIRS,
    }.get(kind.label, f"quality of {first}")


def named_metric(metric: str) -> str:
    """Name a metric and say in brackets what it measures.

    Args:
        metric: its name.

    Returns:
        ``ndcg@10 (quality of the first ten results)``.
    """
    return f"{metric} ({metric_meaning(metric)})"
