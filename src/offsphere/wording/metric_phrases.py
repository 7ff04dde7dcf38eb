"""What a metric counts, in words: what gets better when it rises."""

from __future__ import annotations

from offsphere.statistics.metrics import parse_metric
from offsphere.wording.written_numbers import in_words, share

_PAIRS = "agreement with the gold scores"
_POOL = "one ranking of all queries' results"


def gain_phrase(metric: str, relative: float) -> str:
    """Say what a relative change of a metric means to whoever searches.

    Args:
        metric: its name.
        relative: the change as a share of the value that it is held against.

    Returns:
        A clause with a verb: ``the first ten results get 15 % better``.

    Example:
        >>> gain_phrase("ndcg@10", 0.147), gain_phrase("recall@100", -0.5)
        ('the first ten results get 15 % better', 'the first 100 results hold 50 % less of what is relevant')
    """
    kind = parse_metric(metric)
    size, up = share(abs(relative)), relative > 0
    first = f"the first {in_words(kind.depth)} results" if kind.depth != 1 else "the first result"
    verb = "gets" if kind.depth == 1 else "get"
    better = "better" if up else "worse"
    return {
        "recall": f"{first} {'holds' if kind.depth == 1 else 'hold'} {size} {'more' if up else 'less'} of what is "
        "relevant",
        "precision": f"the first result is relevant {size} {'more' if up else 'less'} often"
        if kind.depth == 1
        else f"{size} {'more' if up else 'fewer'} of {first} are relevant",
        "success": f"{size} {'more' if up else 'fewer'} queries find something relevant "
        f"{'in' if kind.depth == 1 else 'among'} {first}",
        "pooled-ap": f"{_POOL} gets {size} {better}",
        "pooled-auc": f"{_POOL} gets {size} {better}",
        "mrr": f"the first right result stands {size} {'higher' if up else 'lower'} (by its reciprocal rank)",
        "spearman": f"{_PAIRS} gets {size} {better}",
        "pearson": f"{_PAIRS} gets {size} {better}",
        "kendall": f"{_PAIRS} gets {size} {better}",
    }.get(kind.label, f"{first} {verb} {size} {better}")
