"""What an index is set to for a scorer: one of the metrics that search engines have, or none of them."""

from __future__ import annotations

from typing import Literal

from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE, DOT, Agreement, Euclidean

IndexMetric = Literal["cosine", "inner product", "euclidean"]


def index_metric(scorer: Scorer, level: Agreement = "query") -> IndexMetric | None:
    """Tell which metric of search engines a scorer is, on its transformed vectors.

    Args:
        scorer: What is to be served.
        level: What must agree: one ``query``'s order, or the ``order`` of all pairs, for which a query's own length
            counts too.

    Returns:
        The metric; nothing where vectors must be lowered first, or where no index serves it.

    Example:
        >>> import offsphere as osp
        >>> from offsphere.scoring.index_metric import index_metric
        >>> [index_metric(osp.parse_scorer(name)) for name in ("dot", "whiten(0.5) + cosine", "polar(1, 1.5)")]
        ['inner product', 'cosine', None]
    """
    if not scorer.is_plain:
        return None
    key = scorer.similarity.agreement_key(level)
    if key == COSINE.agreement_key(level):
        return "cosine"
    if isinstance(scorer.similarity, Euclidean):
        return "euclidean"
    return "inner product" if key == DOT.agreement_key(level) else None
