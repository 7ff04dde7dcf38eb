"""Tempering: whitening as strong as the spectrum of the documents bears, without a look at judgments."""

from __future__ import annotations

from dataclasses import dataclass

from offsphere.scoring.transforms.maps import AffineMap
from offsphere.scoring.transforms.transform import Transform
from offsphere.scoring.transforms.whiten import Whiten
from offsphere.vectors.moments import Moments
from offsphere.vectors.spectrum import effective_rank, eigenvalues


@dataclass(frozen=True)
class Temper(Transform):
    """Whiten at the strength ``effective rank / dimension``: our own rule, which needs no judgments.

    Whitening blows up directions in which the documents hardly vary. Where all directions carry as much variance, the
    effective rank (the exponential of the entropy of the variance shares) is the dimension, and full whitening blows
    up nothing; where a few directions carry all, what it would blow up is mostly noise. So the share of the dimensions
    that the variance fills is taken as the strength. SpecTemp (arXiv:2603.19339) has the same aim and another rule.

    Example:
        >>> import numpy as np
        >>> from offsphere import Moments, Temper
        >>> rows = np.random.default_rng(0).normal(size=(4000, 4))
        >>> even, narrow = Moments.of(rows), Moments.of(rows * [1, 0.1, 0.1, 0.1])
        >>> round(Temper().strength(even), 2), round(Temper().strength(narrow), 2)
        (1.0, 0.29)
    """

    kind = "temper"
    phrase = "whiten as strongly as the spectrum of the documents bears"

    def strength(self, moments: Moments) -> float:
        """Read the strength of whitening off the spectrum.

        Args:
            moments: of the documents.

        Returns:
            From 0 to 1; 0 where the documents do not vary.
        """
        rank = effective_rank(eigenvalues(moments.covariance))
        return min(rank / len(moments.mean), 1.0) if rank > 0 else 0.0

    def fit(self, moments: Moments) -> AffineMap:
        """Give the whitening of that strength."""
        return Whiten(self.strength(moments)).fit(moments)
