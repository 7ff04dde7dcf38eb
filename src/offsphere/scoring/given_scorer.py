"""A scorer as people give it: the scorer itself, or its name."""

from __future__ import annotations

from collections.abc import Sequence

from offsphere.scoring.names import parse_scorer
from offsphere.scoring.scorer import Scorer
from offsphere.vectors.blocks import Blocks, Documents
from offsphere.vectors.moments import Moments


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
    named = parse_scorer(scorer)
    return named.fit(Moments.over(Blocks.of(documents))) if named.transforms else named


def given_scorers(scorers: Scorer | str | Sequence[Scorer | str], documents: Documents | Blocks) -> list[Scorer]:
    """Read several scorers; one alone is a list of one."""
    each = [scorers] if isinstance(scorers, Scorer | str) else scorers
    return [given_scorer(scorer, documents) for scorer in each]
