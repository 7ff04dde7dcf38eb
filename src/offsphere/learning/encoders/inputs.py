"""The input site of an encoder: token vectors, or pictures, each over a power of its length before all else.

While it is trained the table of token vectors stays as it is and is divided on the way. ``settle_inputs`` writes the
divided table into the model, so that what is saved needs nothing of ours.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from sentence_transformers.base.modules import Router, Transformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from torch import Tensor, nn
from torch.nn import functional

from offsphere.base.errors import ParameterError
from offsphere.encode.picture_power import divide_pictures, divided_pictures, takes_pictures_alone
from offsphere.learning.objective.exponents import Exponents
from offsphere.vectors.powered import powered

POWERS = "_offsphere_input"  # the attribute in which a first stage remembers by what it divides


class InputPowers:
    """Divides the token vectors of one first stage, by the exponent of the side that is being encoded."""

    def __init__(self, model: nn.Module, stage: nn.Module, exponents: Exponents) -> None:
        self.exponents = exponents
        self.side = "document"
        # on the model, since a stage is not told the task
        self.handles = [model.register_forward_pre_hook(self.note_side, with_kwargs=True)]
        if isinstance(stage, StaticEmbedding):
            self.handles.append(stage.register_forward_hook(self.static))
        elif takes_pictures_alone(stage):
            self.handles.append(stage.register_forward_pre_hook(self.pictures))
        else:
            self.handles.append(table_of(stage).register_forward_hook(self.tokens))

    def note_side(self, _: nn.Module, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
        """Remember which side the features are of; those without a side are treated as documents."""
        self.side = options.get("task") or arguments[0].get("task") or "document"

    def exponent(self) -> float:
        """The exponent of the side that is being encoded."""
        return self.exponents.query if self.side == "query" else self.exponents.document

    def tokens(self, _: nn.Module, __: tuple[Any, ...], vectors: Tensor) -> Tensor:
        """Divide the vectors that the table gave."""
        return powered(vectors, self.exponent())

    def pictures(self, _: nn.Module, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Divide the pixels that enter a stage of pictures."""
        return divided_pictures(arguments[0], self.exponent()), *arguments[1:]

    def static(self, stage: nn.Module, _: tuple[Any, ...], features: dict[str, Tensor]) -> dict[str, Tensor]:
        """Put the mean of divided vectors in place of the mean of the vectors as they are."""
        if self.exponent() != 0:
            table = powered(table_of(stage).weight, self.exponent())  # type: ignore[arg-type]
            features["sentence_embedding"] = functional.embedding_bag(
                features["input_ids"], table, features["offsets"], mode="mean"
            )
        return features


def normalize_inputs(model: Any, exponents: Exponents) -> None:
    """Divide token vectors on the way in by a power of their length, each side by its own."""
    if exponents.learned:
        raise ParameterError("normalize_input = learn: exponents of an encoder's token vectors are given, not learned")
    for stage in entrances(model):
        _stop_dividing(stage)
    if exponents.query == exponents.document == 0:
        return
    if exponents.one_sided and isinstance(model[0], Router):
        raise ParameterError("normalize_input differs by side, and the model has routes of its own: give both the same")
    for stage in first_stages(model):
        setattr(stage, POWERS, InputPowers(model, stage, exponents))


def settle_inputs(model: Any) -> None:
    """Write divided tables into the model. Sides that differ become two routes with an encoder each."""
    for stage in entrances(model):
        exponents = _stop_dividing(stage)
        if exponents is None:
            continue
        if not exponents.one_sided:
            _divide(stage, exponents.document)
            continue
        query = deepcopy(stage)
        _divide(query, exponents.query)
        _divide(stage, exponents.document)
        model[0] = Router.for_query_document([query], [stage], default_route="document")


def _stop_dividing(stage: nn.Module) -> Exponents | None:
    """Let a stage divide nothing on the way any more, and say by what it divided."""
    powers: InputPowers | None = getattr(stage, POWERS, None)
    if powers is None:
        return None
    delattr(stage, POWERS)
    for handle in powers.handles:
        handle.remove()
    return powers.exponents


def entrances(model: Any) -> list[Any]:
    """The stages where texts enter a model: one, or the first of every route."""
    first = model[0]
    routes: Any = first.sub_modules.values() if isinstance(first, Router) else [[first]]
    return list({id(route[0]): route[0] for route in routes}.values())


def first_stages(model: Any) -> list[nn.Module]:
    """The stages where texts enter a model, each of which must have a table of token vectors."""
    stages = entrances(model)
    for stage in stages:
        if not isinstance(stage, Transformer | StaticEmbedding):
            raise ParameterError(
                f"normalize_input: the model begins with {type(stage).__name__}, which has no table of token vectors"
            )
    return stages


def table_of(stage: Any) -> nn.Module:
    """The table of token vectors of a first stage."""
    table: nn.Module = stage.embedding if isinstance(stage, StaticEmbedding) else stage.model.get_input_embeddings()
    return table


@torch.no_grad()
def _divide(stage: nn.Module, exponent: float) -> None:
    """Divide the table of a stage, or the pictures that enter it, for good."""
    if takes_pictures_alone(stage):
        divide_pictures(stage, exponent)
        return
    table = table_of(stage)
    weight: Any = table.weight
    weight.copy_(powered(weight, exponent))
