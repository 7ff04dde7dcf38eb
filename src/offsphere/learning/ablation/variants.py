"""Variants of an adapter's training: the grid of normalisations, and sweeps over one parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import isfinite
from types import MappingProxyType
from typing import Any

from offsphere.base.errors import ParameterError, UnknownNameError
from offsphere.learning.adapters.adapter_recipe import Recipe
from offsphere.learning.objective.contrastive_options import ContrastiveOptions, check_temperature
from offsphere.learning.objective.exponents import Exponents

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
    """One way to train among several that are compared.

    Args:
        name: What the variant is called in tables.
        recipe: How it is trained, an adapter (``Recipe``) or an encoder (``EncoderRecipe``).
        budget: The temperatures and rates among which it chooses on held-out queries.
        same: Names of others that train alike, to the last digit, and are not trained for that.

    Example:
        >>> import offsphere as osp
        >>> variant = osp.Variant("query", osp.Recipe(normalize="query"), [(0.05, 0.001), (0.05, 0.003)])
        >>> variant.recipe.exponents
        Exponents(query=1.0, document=0.0, learned=False)
    """

    name: str
    recipe: ContrastiveOptions
    budget: Sequence[Trial]
    same: tuple[str, ...] = ()  # others that train alike

    def __post_init__(self) -> None:
        """Refuse a budget with which nothing can be trained."""
        check_trials(self.budget)


def budget_of(temperatures: Sequence[float] = TEMPERATURES, rates: Sequence[float] = RATES) -> list[Trial]:
    """The trials of a variant: each temperature with each rate; an error where one stands there twice."""
    for name, values in (("temperature", temperatures), ("rate", rates)):
        if len(set(values)) < len(values):
            raise ParameterError(f"a {name} stands there twice: give different values")
    trials = list(product(temperatures, rates))
    check_trials(trials)
    return trials


def check_trials(trials: Sequence[Trial]) -> None:
    """Refuse temperatures and rates with which nothing can be trained, before anything is."""
    for temperature, rate in trials:
        check_temperature(temperature)
        if not (isfinite(rate) and rate > 0):
            raise ParameterError(f"rate = {rate} is not positive")


def grid(
    base: Recipe, budget: Sequence[Trial], *, full: bool = False, pairs: bool = False, two_widths: bool = False
) -> list[Variant]:
    """The grid: every output with every input, and every output with sides tied, with VRNS and with a magnitude head.

    ``full`` crosses all five switches. The first is the baseline: cosine, raw input, a map for each side (for pairs one
    for both, unless the recipe says otherwise), nothing added. Variants that must train alike are one. Sides of two
    widths cannot be tied: there the query side alone is mapped instead.
    """
    base = base.resolved(pairs=pairs)
    other = "query" if two_widths else "tied"
    switched = "untied" if base.sides == other else other
    variants = [_variant(base, budget, output, entering) for output in OUTPUTS for entering in INPUTS]
    if full:
        for sides, vrns, head in product((base.sides, switched), (0.0, VRNS_WEIGHT), (None, "multiplied")):
            if (sides, vrns, head) != (base.sides, 0.0, None):
                variants += [
                    _variant(base, budget, output, entering, sides=sides, vrns=vrns, magnitude=head)
                    for output in OUTPUTS
                    for entering in INPUTS
                ]
    else:
        for switch in ({"sides": switched}, {"vrns": VRNS_WEIGHT}, {"magnitude": "multiplied"}):
            variants += [_variant(base, budget, output, **switch) for output in OUTPUTS]
    return _merge_alike(variants)


def _merge_alike(variants: Sequence[Variant]) -> list[Variant]:
    """Merge variants that must train alike into one.

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
    """Variants that differ in one parameter, for ``ablate``; nothing else is tuned.

    Args:
        base: What all variants have in common.
        parameter: temperature, in powers of two, or batch.

    Returns:
        A variant for each value; the first is the baseline.

    Raises:
        UnknownNameError: If the parameter is another one.

    Example:
        >>> import offsphere as osp
        >>> [variant.name for variant in osp.sweep(osp.Recipe(), "batch")]
        ['batch 16', 'batch 64', 'batch 256', 'batch 1024']
    """
    trial = [(base.temperature or TEMPERATURES[1], base.rate)]
    if parameter == "temperature":
        return [Variant(f"temperature {value:g}", base, [(value, base.rate)]) for value in SWEPT_TEMPERATURES]
    if parameter == "batch":
        return [Variant(f"batch {value}", replace(base, batch=value), trial) for value in SWEPT_BATCHES]
    raise UnknownNameError("sweep", parameter, ["temperature", "batch"])


def _variant(base: Recipe, budget: Sequence[Trial], output: str, entering: str = "none", **switches: Any) -> Variant:
    """A variant of the grid, named by its output, its input and what is added."""
    recipe = replace(base, normalize=OUTPUTS[output], normalize_input=entering, **switches)
    parts = [output]
    parts += [f"input {entering}"] if entering != "none" else []
    parts += [recipe.sides] if recipe.sides != base.sides else []
    parts += ["vrns"] if recipe.vrns else []
    parts += ["head"] if recipe.magnitude is not None else []
    return Variant(", ".join(parts), recipe, budget)
