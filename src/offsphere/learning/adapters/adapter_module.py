"""An adapter while it is trained: a module that starts at the identity or at given maps, and becomes an ``Adapter``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from offsphere.base.arrays import Array
from offsphere.learning.adapters.adapter_recipe import Recipe
from offsphere.learning.adapters.start_maps import StartMaps
from offsphere.learning.objective.normalization import Normalization
from offsphere.learning.objective.objective import Objective
from offsphere.scoring.adapter import Adapter
from offsphere.scoring.similarity import Polar
from offsphere.scoring.transforms import Side
from offsphere.scoring.transforms.adapter_map import MagnitudeHead, SideAdapter
from offsphere.vectors.powered import LEAST, powered

SIDES: tuple[Side, Side] = ("query", "document")
DIGITS = 4  # of learned exponents: what is printed is what is used


class SideModule(nn.Module):
    """``x -> x start + x change``: the change starts at zero, and weight decay pulls back to the start.

    The start is a share of the identity, or a matrix between two widths. With a rank the change is a product of two
    thin matrices. A magnitude head gives each vector a length of its own.
    """

    start: Tensor | None  # (dimension, width); nothing where it is the identity
    thin: Tensor | None
    weights: Tensor | None

    def __init__(self, dimension: int, recipe: Recipe, generator: torch.Generator, start: Array | None = None) -> None:
        super().__init__()
        self.share = 1 / recipe.cut
        given = torch.tensor(start * self.share, dtype=torch.float32) if start is not None else None
        self.register_buffer("start", given)
        rows, width = dimension, dimension if start is None else start.shape[1]
        if recipe.rank is not None:
            rows = min(recipe.rank, dimension)
            thin = torch.randn(dimension, rows, generator=generator) / dimension**0.5
        self.register_parameter("thin", nn.Parameter(thin) if recipe.rank is not None else None)
        self.change = nn.Parameter(torch.zeros(rows, width))
        head = nn.Parameter(torch.zeros(dimension + 2)) if recipe.magnitude is not None else None
        self.register_parameter("weights", head)  # of the direction, the log length, and one

    def forward(self, vectors: Tensor) -> Tensor:
        """Map vectors of this side."""
        if self.start is not None and self.thin is None:  # one multiplication, as without a start
            return vectors @ (self.start + self.change)
        inner = vectors if self.thin is None else vectors @ self.thin
        if self.start is not None:
            return torch.addmm(vectors @ self.start, inner, self.change)
        return torch.addmm(vectors, inner, self.change, beta=self.share)

    def head(self, given: Tensor) -> Tensor | None:
        """What the magnitude head gives for vectors as they came in; nothing where there is no head."""
        if self.weights is None:
            return None
        lengths = given.norm(dim=-1).clamp_min(LEAST)
        values: Tensor = powered(given, 1.0) @ self.weights[:-2] + self.weights[-2] * lengths.log() + self.weights[-1]
        return values

    def matrix(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The map as one matrix, (dimension, width)."""
        change = self.change.detach().double().cpu()
        if self.thin is not None:
            change = self.thin.detach().double().cpu() @ change
        start = self.share * torch.eye(len(change)) if self.start is None else self.start.cpu()
        return np.asarray((change + start.double()).numpy())


class AdapterModule(nn.Module):
    """The maps of both sides and the normalisation of what enters them."""

    def __init__(self, widths: tuple[int, int], recipe: Recipe, seed: int = 0, start: StartMaps | None = None) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        recipe = recipe.resolved()
        self.recipe = recipe
        self.input = Normalization(recipe.normalize_input)
        names = {"tied": ["both"], "untied": ["query", "document"]}.get(recipe.sides, [recipe.sides])
        given = start or StartMaps()
        begins = {"both": (widths[0], None), "query": (widths[0], given.query), "document": (widths[1], given.document)}
        modules = {name: SideModule(begins[name][0], recipe, generator, begins[name][1]) for name in names}
        self.maps = nn.ModuleDict(modules)

    def side(self, side: Side) -> SideModule | None:
        """The map of a side; nothing where the side has none."""
        name = "both" if "both" in self.maps else str(side)
        return cast("SideModule", self.maps[name]) if name in self.maps else None

    def forward(self, vectors: Tensor, side: Side) -> tuple[Tensor, Tensor | None]:
        """Map vectors of a side, before the output is normalised, and say what their head gives."""
        part = self.side(side)
        if part is None:  # nothing enters anything: the vectors stay as they are
            return vectors, None
        return part(self.input(vectors, side)), part.head(vectors)

    def parameter_groups(self) -> Iterator[dict[str, Any]]:
        """Groups for the optimiser: maps with weight decay, heads without, exponents of the input at their own rate."""
        recipe = self.recipe
        parts = [cast("SideModule", part) for part in self.maps.values()]
        maps = [p for part in parts for p in (part.change, part.thin) if p is not None]
        yield {"params": maps, "lr": recipe.rate, "weight_decay": recipe.weight_decay}
        heads = [part.weights for part in parts if part.weights is not None]
        if heads:
            yield {"params": heads, "lr": recipe.rate, "weight_decay": 0.0}
        if self.input.raw is not None:
            yield {"params": [self.input.raw], "lr": recipe.own_rate, "weight_decay": 0.0}

    def adapter(self, objective: Objective) -> Adapter:
        """What was learned so far, as an adapter that needs no torch."""
        exponents, entering = objective.normalization.exponents, self.input.exponents
        sides, output = {}, {}
        for side in SIDES:
            part = self.side(side)
            power = round(getattr(exponents, side), DIGITS)
            head = None
            if part is not None and part.weights is not None:
                *weights, log_length, shift = part.weights.detach().double().tolist()
                head = MagnitudeHead(np.array(weights), log_length, shift, power, objective.combine)
            if part is None:
                sides[side] = SideAdapter()
            else:
                sides[side] = SideAdapter(part.matrix(), round(getattr(entering, side), DIGITS), head)
            output[side] = 0.0 if head is not None else power  # a head has divided already
        similarity = Polar(output["query"], output["document"])
        return Adapter(sides["query"], sides["document"], similarity, self.recipe.label)
