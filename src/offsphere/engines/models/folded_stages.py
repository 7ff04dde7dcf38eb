"""Steps of a folded scorer as stages of a sentence-transformers model: Dense, Normalize, a Router where sides differ.

A power of the length other than 1 is a stage of offsphere's own, which no plain sentence-transformers loads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from sentence_transformers.base.modules import Dense, Router
from sentence_transformers.base.modules import Normalize as NormalizeStage
from sentence_transformers.base.modules.module import Module
from torch import nn

from offsphere.encode.stages import Power
from offsphere.engines.models.folding import Bend, Divide, Step
from offsphere.scoring.transforms import AffineMap, Side


def add_folded_stages(model: Any, steps: Mapping[Side, Sequence[Step]]) -> list[str]:
    """Let a model do the steps of each side after its own stages.

    Args:
        model: A SentenceTransformer, which is changed.
        steps: What to do with the vectors of queries and of documents.

    Returns:
        The stages that were added, in words.
    """
    query, document = steps["query"], steps["document"]
    shared = _shared_steps(query, document)
    stages = _stages(query[:shared])
    for stage in stages:
        model.append(stage)
    apart = {side: _stages(steps[side][shared:]) for side in ("query", "document")}
    if any(apart.values()):
        model.append(Router.for_query_document(apart["query"], apart["document"], default_route="document"))
    words = [_name(stage) for stage in stages]
    return words + [f"{_name(stage)} for the {side}" for side in apart for stage in apart[side]]


def is_plain(steps: Mapping[Side, Sequence[Step]]) -> bool:
    """Whether sentence-transformers has a stage for every step."""
    return not any(isinstance(step, Divide) and step.exponent != 1 for side in steps.values() for step in side)


def ends_normalized(steps: Mapping[Side, Sequence[Step]]) -> bool:
    """Whether the vectors of both sides have length one at the end."""
    return all(bool(side) and side[-1] == Divide(1.0) for side in steps.values())


def _stages(steps: Sequence[Step]) -> list[Module]:
    """The stages of some steps; a bend belongs to the affine map before it."""
    stages: list[Module] = []
    for number, step in enumerate(steps):
        if isinstance(step, AffineMap):
            bent = number + 1 < len(steps) and isinstance(steps[number + 1], Bend)
            stages.append(_dense(step, bent=bent))
        elif isinstance(step, Divide):
            stages.append(NormalizeStage() if step.exponent == 1 else Power(step.exponent))
    return stages


def _dense(step: AffineMap, *, bent: bool) -> Dense:
    """An affine map as a stage; torch has the matrix the other way round."""
    matrix = np.diag(step.matrix) if step.matrix.ndim == 1 else step.matrix
    has_shift = bool(np.any(step.shift))
    return Dense(
        matrix.shape[0],
        matrix.shape[1],
        bias=has_shift,
        activation_function=nn.Hardswish() if bent else nn.Identity(),
        init_weight=torch.tensor(np.ascontiguousarray(matrix.T), dtype=torch.float32),
        init_bias=torch.tensor(step.shift, dtype=torch.float32) if has_shift else None,
    )


def _shared_steps(query: Sequence[Step], document: Sequence[Step]) -> int:
    """With how many steps both sides begin alike; a map is not parted from the bend that follows it."""
    count = 0
    for first, second in zip(query, document, strict=False):
        if not _are_equal(first, second):
            break
        count += 1
    follows = [side[count : count + 1] for side in (query, document)]
    return count - 1 if count and any(side and isinstance(side[0], Bend) for side in follows) else count


def _are_equal(first: Step, second: Step) -> bool:
    """Whether two steps do the same."""
    if isinstance(first, AffineMap) and isinstance(second, AffineMap):
        return first.key == second.key
    return first == second


def _name(stage: Module) -> str:
    """A stage as a reader knows it: its class, and the widths of a map."""
    if isinstance(stage, Dense):
        bent = " with Hardswish" if isinstance(stage.activation_function, nn.Hardswish) else ""
        return f"Dense {stage.in_features} to {stage.out_features}{bent}"
    return f"Power {stage.exponent:g}" if isinstance(stage, Power) else type(stage).__name__
