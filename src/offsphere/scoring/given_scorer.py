"""A scorer as people give it: the scorer itself, or its name; fitted, or still to be fitted."""

from __future__ import annotations

from collections.abc import Sequence

from offsphere.scoring.names import parse_scorer
from offsphere.scoring.scorer import Scorer
from offsphere.vectors.blocks import Blocks, Documents


def given_scorer(scorer: Scorer | str, documents: Documents | Blocks) -> Scorer:
    """Read a scorer that was given by its name, and fit it on the documents where it has transforms.

    Args:
        scorer: A scorer, which stays as it is, or a name such as ``whiten(0.5) + cosine``.
        documents: What the transforms of a named scorer are fitted on.

    Returns:
        The scorer.

    Raises:
        OffsphereError: The text is no name of a scorer.

    Example:
        >>> import numpy as np
        >>> from offsphere.scoring.given_scorer import given_scorer
        >>> documents = np.array([[1.0, 2.0], [3.0, 6.0]], np.float32)
        >>> given_scorer("center + dot", documents).transform(documents).tolist()
        [[-1.0, -2.0], [1.0, 2.0]]
    """
    if isinstance(scorer, Scorer):
        return scorer
    return fitted_scorer(parse_scorer(scorer), documents)


def fitted_scorer(scorer: Scorer, documents: Documents | Blocks) -> Scorer:
    """Fit a scorer on the documents where it has transforms that were not fitted yet.

    Args:
        scorer: A scorer, which stays as it is where nothing of it is to be fitted.
        documents: What the transforms are fitted on.

    Returns:
        The scorer, ready to score.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> from offsphere.scoring.given_scorer import fitted_scorer
        >>> scorer = fitted_scorer(osp.parse_scorer("center + dot"), np.eye(2, dtype=np.float32))
        >>> scorer.needs_fit, fitted_scorer(scorer, np.ones((2, 2), np.float32)) is scorer
        (False, True)
    """
    return scorer.fit(documents) if scorer.needs_fit else scorer


def given_scorers(scorers: Scorer | str | Sequence[Scorer | str], documents: Documents | Blocks) -> list[Scorer]:
    """Read several scorers; one alone is a list of one."""
    return [given_scorer(scorer, documents) for scorer in one_or_more(scorers)]


def one_or_more(scorers: Scorer | str | Sequence[Scorer | str]) -> Sequence[Scorer | str]:
    """List scorers: one alone, by itself or by its name, is a list of one.

    Example:
        >>> from offsphere.scoring.given_scorer import one_or_more
        >>> one_or_more("dot"), one_or_more(["dot", "cosine"])
        (['dot'], ['dot', 'cosine'])
    """
    return [scorers] if isinstance(scorers, Scorer | str) else scorers
