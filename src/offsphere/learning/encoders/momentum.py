"""A momentum encoder and its queue: documents encoded by a slow copy of the model, now and in the steps before.

He et al. 2020, arXiv:1911.05722. The copy has no gradient and follows the model step by step; what it encoded for
former batches is kept in a queue and serves as negatives, so that there are far more of them than a batch holds.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn

from offsphere.base.errors import ParameterError
from offsphere.encode.stages import let_lengths_pass, output_stages


class Momentum(nn.Module):
    """The slow copy of a model, and the queue of vectors with the keys of their documents."""

    vectors: Tensor
    keys: Tensor
    filled: Tensor

    def __init__(self, model: Any, momentum: float, size: int) -> None:
        super().__init__()
        if not 0 <= momentum < 1:
            raise ParameterError(f"momentum = {momentum}: give a number from 0 to below 1, such as 0.999")
        if size < 1:
            raise ParameterError(f"queue = {size}: give at least 1")
        self.momentum, self.size = momentum, size
        self.copy = deepcopy(model)
        for parameter in self.copy.parameters():
            parameter.requires_grad_(requires_grad=False)
        for _, stage in output_stages(self.copy):
            let_lengths_pass(stage)
        self.register_buffer("vectors", torch.zeros(size, model.get_embedding_dimension()))
        self.register_buffer("keys", torch.zeros(size, dtype=torch.long))
        self.register_buffer("filled", torch.zeros((), dtype=torch.long))

    @torch.no_grad()
    def follow(self, model: nn.Module) -> None:
        """Move the copy a little towards the model."""
        model = getattr(model, "module", model)  # as it is inside a wrapper of several processes
        for slow, current in zip(self.copy.parameters(), model.parameters(), strict=True):
            slow.lerp_(current.to(slow.dtype), 1 - self.momentum)

    @torch.no_grad()
    def encode(self, features: dict[str, Any]) -> Tensor:
        """Encode a batch of texts by the slow copy: raw vectors, before the last stages take length away."""
        self.copy.train(self.training)
        for _, stage in output_stages(self.copy):
            stage.train()
        vectors: Tensor = self.copy(dict(features))["sentence_embedding"]
        return vectors

    @property
    def queue(self) -> tuple[Tensor, Tensor]:
        """The vectors in the queue, and the keys of their documents."""
        count = min(int(self.filled), self.size)
        return self.vectors[:count].clone(), self.keys[:count].clone()

    @torch.no_grad()
    def push(self, vectors: Tensor, keys: Tensor) -> None:
        """Put a batch into the queue, in place of the oldest."""
        vectors, keys = vectors[-self.size :], keys[-self.size :]
        positions = (torch.arange(len(vectors), device=vectors.device) + self.filled) % self.size
        self.vectors[positions] = vectors.to(self.vectors.dtype)
        self.keys[positions] = keys
        self.filled += len(vectors)
