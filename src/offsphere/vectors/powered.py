"""Vectors over a power of their length, for tensors: the one formula behind normalisation in training and in models."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

LEAST = 1e-12  # what a vector of length zero is divided by


def powered(vectors: Tensor, exponent: Tensor | float) -> Tensor:
    """``x / |x| ** exponent``, row by row.

    With exponent 1 the gradient passes through ``(I - x^ x^T) / |x|``: nothing of it points along x.
    """
    if isinstance(exponent, float):
        if exponent == 0:
            return vectors
        if exponent == 1:
            return functional.normalize(vectors, dim=-1, eps=LEAST)
    lengths = vectors.norm(dim=-1, keepdim=True).clamp_min(LEAST)
    result: Tensor = vectors * lengths ** (-exponent)
    return result
