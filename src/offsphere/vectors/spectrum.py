"""The spectrum of a covariance, and numbers that say how evenly the variance is spread over directions."""

from __future__ import annotations

from math import exp, nan, sqrt

import numpy as np

from offsphere.base.arrays import Array

ROUNDING = 1e-12  # eigenvalues below this share of the largest are zero


def eigenvalues(covariance: Array) -> Array:
    """The eigenvalues of a covariance, largest first; what is negative by rounding is zero."""
    spectrum = np.linalg.eigvalsh(covariance)[::-1]
    return np.where(spectrum > ROUNDING * max(spectrum[0], 0.0), spectrum, 0.0)


def isoscore(spectrum: Array) -> float:
    """IsoScore (Rudman et al. 2022): 1 where all directions vary alike, 0 where a single one does.

    With the spectrum v scaled to ``|v| = sqrt(n)`` and ``delta = |v - 1| / sqrt(2 (n - sqrt n))`` it is
    ``((n - delta^2 (n - sqrt n))^2 - n) / (n (n - 1))``.
    """
    n, size = len(spectrum), float(np.linalg.norm(spectrum))
    if n < 2 or size == 0:  # noqa: PLR2004
        return nan
    scaled = spectrum * (sqrt(n) / size)
    defect = float(((scaled - 1) ** 2).sum()) / (2 * (n - sqrt(n)))
    return ((n - defect * (n - sqrt(n))) ** 2 - n) / (n * (n - 1))


def effective_rank(spectrum: Array) -> float:
    """The exponential of the entropy of the variance shares (Roy & Vetterli 2007)."""
    shares = spectrum[spectrum > 0] / spectrum.sum() if spectrum.any() else np.zeros(0)
    return exp(-float((shares * np.log(shares)).sum())) if len(shares) else nan
