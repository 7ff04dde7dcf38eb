"""Variants of a recipe to hold against each other: the grid of normalisations, and sweeps over one parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType
from typing import Any

from offsphere.base.errors import UnknownNameError
from offsphere.learn.adapters.adapter_recipe import Recipe
from offsphere.learn.objective.contrastive_options import ContrastiveOptions
from offsphere.learn.objective.exponents import Exponents

OUTPUTS: Mapping[str, str] = MappingProxyType(
    {"cosine": "both", "dot": "none", "query": "query", "document": "document", "half": "half", "learn": "learn"}
)
INPUTS = ("none", "query", "document", "both")
VRNS_WEIGHT = 30.0

TEMPERATURES = (0.025, 0.05, 0.1)  # the budget every variant has: each with each
RATES = (3e-4, 1e-3, 3e-3)
SWEPT_TEMPERATURES = (0.0125, 0.025, 0.05, 0.1, 0.2, 0.4)  # powers of two
SWEPT_BATCHES = (16, 64, 256, 1_024)

Trial = tuple[float, float]  # temperature, rate


@dataclass(frozen=True, slots=True)
class Variant:
    """A recipe, what it is called, and between which temperatures and rates it may choose."""

    name: str
    recipe: ContrastiveOptions
    budget: Sequence[Trial]
    same: tuple[str, ...] = ()  # others that train alike


def budget_of(temperatures: Sequence[float] = TEMPERATURES, rates: Sequence[float] = RATES) -> list[Trial]:
    """Each temperature with each rate."""
    return list(product(temperatures, rates))


def grid(base: Recipe, budget: Sequence[Trial], *, full: bool = False, pairs: bool = False) -> list[Variant]:
    """Every output with every input; and every output with the sides tied, with VRNS, and with a magnitude head.

    ``full`` crosses all five switches. The first is the baseline: cosine, raw input, a map for each side (for pairs one
    for both, unless the recipe says otherwise), nothing added. Variants that must train alike are one.
    """
    base = base.resolved(pairs=pairs)
    other = "untied" if base.sides == "tied" else "tied"
    found = [_variant(base, budget, output, entering) for output in OUTPUTS for entering in INPUTS]
    if full:
        for sides, vrns, head in product((base.sides, other), (0.0, VRNS_WEIGHT), (None, "multiplied")):
            if (sides, vrns, head) != (base.sides, 0.0, None):
                found += [
                    _variant(base, budget, output, entering, sides=sides, vrns=vrns, magnitude=head)
                    for output in OUTPUTS
                    for entering in INPUTS
                ]
    else:
        for switch in ({"sides": other}, {"vrns": VRNS_WEIGHT}, {"magnitude": "multiplied"}):
            found += [_variant(base, budget, output, **switch) for output in OUTPUTS]
    return _merged(found)


def _merged(variants: Sequence[Variant]) -> list[Variant]:
    """One for all that must train alike.

    Under a normalised output the map of a side gives the same scores for x and for any multiple of it, whatever the
    map: loss and gradients do not see the length of that side's input at all.
    """
    kept: dict[ContrastiveOptions, Variant] = {}
    for variant in variants:
        output, entering = variant.recipe.exponents, Exponents.of(variant.recipe.normalize_input)
        seen = (
            0.0 if output.query == 1 else entering.query,
            0.0 if output.document == 1 else entering.document,
        )
        key = replace(variant.recipe, normalize_input=seen)
        first = kept.get(key)
        kept[key] = variant if first is None else replace(first, same=(*first.same, variant.name))
    return list(kept.values())


def sweep(base: Recipe, parameter: str) -> list[Variant]:
    """One parameter over its values, nothing else tuned: temperature in powers of two, or batch."""
    trial = [(base.temperature or TEMPERATURES[1], base.rate)]
    if parameter == "temperature":
        return [Variant(f"temperature {value:g}", base, [(value, base.rate)]) for value in SWEPT_TEMPERATURES]
    if parameter == "batch":
        return [Variant(f"batch {value}", replace(base, batch=value), trial) for value in SWEPT_BATCHES]
    raise UnknownNameError("sweep", parameter, ["temperature", "batch"])


def _variant(base: Recipe, budget: Sequence[Trial], output: str, entering: str = "none", **switches: Any) -> Variant:
    recipe = replace(base, normalize=OUTPUTS[output], normalize_input=entering, **switches)
    parts = [output]
    parts += [f"input {entering}"] if entering != "none" else []
    parts += [recipe.sides] if recipe.sides != base.sides else []
    parts += ["vrns"] if recipe.vrns else []
    parts += ["head"] if recipe.magnitude is not None else []
    return Variant(", ".join(parts), recipe, budget)
