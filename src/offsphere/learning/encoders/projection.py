"""A projection head: two layers after an encoder that are trained with it and dropped afterwards.

Chen et al. 2020, arXiv:2002.05709: the loss is computed on what the head gives; what is used later is what enters it.
"""

from __future__ import annotations

from typing import Any

import torch
from sentence_transformers.base.modules import Dense
from torch import nn

from offsphere.encode.stages import remove_output_stages

HEAD = "_offsphere_head"  # the attribute by which the layers of a head are known


def add_projection(model: Any, width: int, seed: int = 0) -> list[str]:
    """Let a model end in a head: a layer of its own width with ReLU, then a linear one to the width of the head.

    Stages at the end that take length away are removed first, and named.
    """
    removed = remove_output_stages(model)
    given = model.get_embedding_dimension()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers = [
            Dense(given, given, activation_function=nn.ReLU()),
            Dense(given, width, bias=False, activation_function=None),
        ]
    for layer in layers:
        setattr(layer, HEAD, True)
        model.append(layer)
    return removed


def drop_projection(model: Any) -> bool:
    """Take the head out again, whatever follows it; say whether there was one."""
    positions = [number for number, stage in enumerate(model) if hasattr(stage, HEAD)]
    for number in reversed(positions):
        del model[number]
    return bool(positions)
