"""How much it takes to serve a scorer, so that the simpler of two that are as good can be taken."""

from __future__ import annotations

from offsphere.scoring.scorer import Scorer

Complexity = tuple[int, ...]


def complexity_of(scorer: Scorer, *, tuned: bool) -> Complexity:
    """Tell what serving it takes, the worst first: no inner product, a document bias, transforms, tuned parameters.

    Args:
        scorer: what would be served.
        tuned: whether its parameters were chosen by the data.

    Returns:
        Numbers in an order in which the smaller is the simpler.

    Example:
        >>> import offsphere as osp
        >>> complexity_of(osp.parse_scorer("cosine"), tuned=False) < complexity_of(osp.parse_scorer("dot"), tuned=True)
        True
    """
    return (int(not scorer.similarity.lowers), int(not scorer.is_plain), len(scorer.transforms), int(tuned))
