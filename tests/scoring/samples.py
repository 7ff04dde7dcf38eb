"""Vectors that tests of scorers draw: directions and lengths of their own, off the centre."""

from __future__ import annotations

import numpy as np


def vectors(seed, rows, dimension=8):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((rows, dimension)) * rng.lognormal(0, 0.5, (rows, 1)) + 0.2).astype(np.float32)
