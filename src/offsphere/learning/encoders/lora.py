"""LoRA for the first part of a training: thin matrices beside the linear layers learn, all other weights wait.

Where a network has convolutions and no linear layer, as a tower of residual blocks, they stand beside those.

Hu et al. 2021, arXiv:2106.09685, by peft. The layers stay in the model until the end, so that a checkpoint is one
thing; in the second part the weights beside them learn and they wait. At the end both are added up, and what is saved
is a plain model again.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from offsphere.base.errors import ParameterError
from offsphere.base.extras import load_extra

ALPHA = 2  # over the rank: how strongly the thin matrices count
MARK = "lora_"  # in the names of their weights


def add_lora(model: Any, rank: int, seed: int = 0) -> None:
    """Put a pair of thin matrices beside every layer of a model's transformers; all weights may learn still.

    Args:
        model: A SentenceTransformer, which is changed; its vectors stay as they are.
        rank: The width of the thin matrices.
        seed: Of their start.

    Raises:
        ParameterError: If no such layer is there, as in a static model.
        MissingExtraError: Without peft.
    """
    peft = load_extra("peft")
    from transformers import PreTrainedModel

    transformers = [part for part in model.modules() if isinstance(part, PreTrainedModel)]
    outermost = [part for part in transformers if not any(part in other.children() for other in transformers)]
    names = {part: _layers_beside(part) for part in outermost}
    if not any(names.values()):
        raise ParameterError(f"lora = {rank}: the model has no transformer whose layers could have one")
    learned = {name: weight.requires_grad for name, weight in model.named_parameters()}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for part in filter(names.get, outermost):
            config = peft.LoraConfig(r=rank, lora_alpha=ALPHA * rank, target_modules=names[part], lora_dropout=0.0)
            peft.inject_adapter_in_model(config, part)
    for name, weight in model.named_parameters():
        weight.requires_grad_(learned.get(name.replace(".base_layer", ""), True))


def _layers_beside(part: nn.Module) -> list[str]:
    """The names of the layers that get thin matrices: linear ones, or convolutions where there is none."""
    kinds = [
        [name for name, layer in part.named_modules() if isinstance(layer, kind)] for kind in (nn.Linear, nn.Conv2d)
    ]
    return kinds[0] or kinds[1]


def learn_by_lora(model: nn.Module, *, alone: bool) -> None:
    """Let the thin matrices learn alone, or all other weights without them.

    Args:
        model: A model with such matrices; without them nothing is changed.
        alone: Whether it is they that learn.
    """
    if not has_lora(model):
        return
    for name, weight in model.named_parameters():
        weight.requires_grad_((MARK in name) == alone)


def has_lora(model: nn.Module) -> bool:
    """Whether a model has thin matrices beside its layers."""
    return any(MARK in name for name, _ in model.named_parameters())


def merge_lora(model: nn.Module) -> bool:
    """Add the thin matrices to the weights beside them and take them out; say whether there were any."""
    layers = [(name, part) for name, part in model.named_modules() if hasattr(part, "base_layer")]
    for name, layer in layers:
        layer.merge(safe_merge=True)
        parent, _, child = name.rpartition(".")
        setattr(model.get_submodule(parent), child, layer.base_layer)
    if layers:
        for weight in model.parameters():
            weight.requires_grad = True
    return bool(layers)
