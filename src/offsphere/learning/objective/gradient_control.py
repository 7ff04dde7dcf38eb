"""Gradients under control: GradScale and cut-initialisation (Draganov et al. 2024, arXiv:2406.16468)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from offsphere.base.errors import ParameterError


class _GradScale(torch.autograd.Function):
    """The identity, whose gradient is multiplied by a power of each vector's length."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, power: float) -> Tensor:
        ctx.save_for_backward(vectors)
        ctx.power = power
        return vectors.view_as(vectors)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        (vectors,) = ctx.saved_tensors
        return gradients[0] * vectors.norm(dim=-1, keepdim=True) ** ctx.power, None


def grad_scale(vectors: Tensor, power: float) -> Tensor:
    """Pass the vectors on as they are, and multiply their gradient by ``|x| ** power``.

    The gradient of cosine is ``sin(angle) / |x|``, so long vectors learn slowly; power 1 undoes that.
    """
    if not power:
        return vectors
    passed: Tensor = _GradScale.apply(vectors, power)  # type: ignore[no-untyped-call]
    return passed


@torch.no_grad()
def cut_initialize(module: nn.Module, divisor: float = 3.0) -> None:
    """Divide all weights by a number: 3 for contrastive, 9 for non-contrastive training.

    Shorter vectors learn faster under cosine, and at the start nothing else changes.
    """
    if not divisor > 0:
        raise ParameterError(f"cut = {divisor}: weights are divided by a number above zero")
    for parameter in module.parameters():
        parameter.div_(divisor)
