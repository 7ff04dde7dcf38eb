"""Metrics by name: per query (``ndcg@10``), over all queries (``pooled-ap@100``), and of pairs (``spearman``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from offsphere.base.errors import ParameterError, UnknownNameError
from offsphere.base.known_names import plain_name
from offsphere.scoring.similarity import Agreement
from offsphere.statistics.metrics import over_pairs as pairs
from offsphere.statistics.metrics import per_query as ranking
from offsphere.statistics.metrics import pooled

MetricKind = Literal["ranking", "pooled", "pairs"]

_RANKING: Mapping[str, Callable[..., object]] = MappingProxyType(
    {
        "ndcg": ranking.ndcg,
        "mrr": ranking.mrr,
        "recall": ranking.recall,
        "precision": ranking.precision,
        "map": ranking.average_precision,
        "success": ranking.success,
        "full-recall": ranking.full_recall,
        "knn": ranking.value_at_depth,
        "answer-recall": ranking.success,
        "exact-match": ranking.value_at_depth,
        "answer-f1": ranking.value_at_depth,
    }
)
_POOLED: Mapping[str, Callable[..., object]] = MappingProxyType(
    {"pooled-ap": pooled.pooled_average_precision, "pooled-auc": pooled.roc_auc}
)
_PAIRS: Mapping[str, Callable[..., object]] = MappingProxyType(
    {"spearman": pairs.spearman, "pearson": pairs.pearson, "kendall": pairs.kendall}
)
_CONTRIBUTIONS: Mapping[str, Callable[..., object]] = MappingProxyType(
    {
        "spearman": pairs.spearman_contributions,
        "pearson": pairs.pearson_contributions,
        "kendall": pairs.kendall_contributions,
    }
)
_SPECIAL = ("knn", "answer-recall", "exact-match", "answer-f1")  # which only tasks with classes, or answers, have
DEEPEST_DIGITS = 7  # of the depth of a ranking


# what others call these
_ELSEWHERE = {
    **dict.fromkeys(("hit", "hits", "hit-rate", "hitrate", "hr", "accuracy", "acc", "top"), "success"),
    **dict.fromkeys(("ap", "average-precision", "mean-average-precision"), "map"),
    **dict.fromkeys(("rr", "recip-rank", "reciprocal-rank", "mean-reciprocal-rank"), "mrr"),
    **dict.fromkeys(("dcg", "ndcg-cut", "nd"), "ndcg"),
    **dict.fromkeys(("p", "prec"), "precision"),
    **dict.fromkeys(("r", "rec"), "recall"),
    **dict.fromkeys(("auc", "roc-auc", "auroc"), "pooled-auc"),
    **dict.fromkeys(("rho", "spearmanr", "spearman-rho"), "spearman"),
    **dict.fromkeys(("pearsonr",), "pearson"),
    **dict.fromkeys(("tau", "kendalltau", "kendall-tau"), "kendall"),
}
_DEFAULT_DEPTH = {"pooled-ap": 100, "pooled-auc": 100, "answer-recall": 5, "exact-match": 5, "answer-f1": 5}


@dataclass(frozen=True, slots=True)
class QualityMetric:
    """A metric, its kind, and the depth at which rankings are cut (0 for pairs)."""

    label: str
    kind: MetricKind
    depth: int = 0

    @property
    def name(self) -> str:
        """The name as it is typed: ``ndcg@10``."""
        return f"{self.label}@{self.depth}" if self.depth else self.label

    @property
    def general(self) -> bool:
        """Whether judgments are all it needs; others need what only some tasks have."""
        return self.label not in _SPECIAL

    @property
    def agreement(self) -> Agreement:
        """What two scorers must have in common to get the same value under this metric."""
        if self.kind == "ranking":
            return "query"
        return "value" if self.label == "pearson" else "order"

    @property
    def function(self) -> Callable[..., object]:
        """The function that computes it."""
        return {**_RANKING, **_POOLED, **_PAIRS}[self.label]

    @property
    def contributions(self) -> Callable[..., object]:
        """The function that computes what each pair adds to a correlation."""
        return _CONTRIBUTIONS[self.label]


def parse_metric(text: str) -> QualityMetric:
    """Read the name of a metric: ``ndcg@10``, ``recall@100``, ``pooled-ap``, ``spearman``, ...

    Args:
        text: the name, and the depth behind an @; without it the depth is 10, or 100 for a pool.

    Raises:
        UnknownNameError: where there is no such metric, with near matches.
        ParameterError: where the depth is below one, or has no end.

    Example:
        >>> parse_metric("recall").name, parse_metric("spearman").kind
        ('recall@10', 'pairs')
    """
    match = re.fullmatch(r"([a-z-]+?(?:-f1)?)(?:-?@(\d+))?", plain_name(re.sub(r"\s*@\s*", "@", text)))
    label = match.group(1) if match else text
    if label in _PAIRS and match and match.group(2) is None:
        return QualityMetric(label, "pairs")
    if match is None or label not in {**_RANKING, **_POOLED}:
        known = [
            *(f"{name}@10" for name in _RANKING if name not in _SPECIAL),
            *(f"{name}@100" for name in _POOLED),
            *_PAIRS,
        ]
        raise UnknownNameError("metric", text, known, _meant(text))
    digits = match.group(2)
    depth = int(digits[:DEEPEST_DIGITS]) if digits else _DEFAULT_DEPTH.get(label, 10)
    if depth < 1 or (digits and len(digits) > DEEPEST_DIGITS):
        raise ParameterError(f"metric {text!r}: the depth must be at least 1, and below {10**DEEPEST_DIGITS:,}")
    return QualityMetric(label, "ranking" if label in _RANKING else "pooled", depth)


def _meant(text: str) -> str | None:
    """Tell what somebody meant who knows the metric by another name, at the depth that was asked for."""
    parts = re.fullmatch(r"([a-z-]+?)(?:-?[@-]-?(\d+))?", plain_name(text))
    label = parts and (_ELSEWHERE.get(parts.group(1)) or (parts.group(1) if parts.group(1) in _RANKING else None))
    if not parts or not label:
        return None
    depth = parts.group(2) or _DEFAULT_DEPTH.get(label, 10)
    return label if label in _PAIRS else f"{label}@{depth}"
