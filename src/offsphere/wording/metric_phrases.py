"""What a metric counts, in words, for somebody who has never met its name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from offsphere.statistics.metrics import parse_metric
from offsphere.wording.glossary import explanation
from offsphere.wording.written_numbers import in_words

_TERMS: Mapping[str, str] = MappingProxyType(  # of the glossary, where they are called otherwise than the metric
    {
        "ndcg": "nDCG",
        "mrr": "MRR",
        "map": "MAP",
        "full-recall": "full recall",
        "knn": "classes by neighbours",
        "answer-recall": "answer recall",
        "exact-match": "exact match",
        "answer-f1": "answer F1",
        "pooled-ap": "pooled",
        "pooled-auc": "pooled",
        "spearman": "Spearman",
        "pearson": "Pearson",
        "kendall": "Kendall",
    }
)


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
    return explanation(_TERMS.get(kind.label, kind.label), first, of_one=kind.depth == 1)


def named_metric(metric: str) -> str:
    """Name a metric and say in brackets what it measures.

    Args:
        metric: its name.

    Returns:
        ``ndcg@10 (quality of the first ten results)``.
    """
    return f"{metric} ({metric_meaning(metric)})"
