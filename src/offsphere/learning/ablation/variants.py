"""Variants of an adapter's training: the grid of normalisations, and sweeps over one parameter.

A name joins what a variant is made of with a plus, never with a comma, so that ``--only`` can list names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import isfinite
from types import MappingProxyType
from typing import Any

from offsphere.base.errors import ParameterError, UnknownNameError
from offsphere.base.short_repr import short_repr
from offsphere.learning.adapters.adapter_recipe import Recipe
from offsphere.learning.objective.contrastive_options import ContrastiveOptions, check_temperature
from offsphere.learning.objective.exponents import Exponents, write_normalize

OUTPUTS: Mapping[str, str] = MappingProxyType(
    {"cosine": "both", "dot": "none", "query": "query", "document": "document", "half": "half", "learn": "learn"}
)
INPUTS = ("none", "query", "document", "both")
VRNS_WEIGHT = 30.0

TEMPERATURES = (0.025, 0.05, 0.1)  # the budget every variant has: each with each
RATES = (3e-4, 1e-3, 3e-3)
SWEPT_TEMPERATURES = (0.0125, 0.025, 0.05, 0.1, 0.2, 0.4)  # powers of two
SWEPT_BATCHES = (16, 64, 256, 1_024)

JOIN = " + "  # between the parts of a name

TrialSettings = tuple[float, float | None]  # temperature, and rate; without a rate, the usual one of what is trained


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to train among several that are compared.

    Args:
        name: What the variant is called in tables.
        recipe: How it is trained, an adapter (``Recipe``) or an encoder (``EncoderRecipe``).
        budget: The temperatures and rates among which it chooses on held-out queries.
        same: Names of others that train alike, to the last digit, and are not trained for that.
        role: What it is called in the claims of papers, such as cosine or ``cosine + vrns``; its name without.
        setting: Which other values it shares with those it is compared with, such as ``batch 16``.

    Example:
        >>> import offsphere as osp
        >>> variant = osp.Variant("query", osp.Recipe(normalize="query"), [(0.05, 0.001), (0.05, 0.003)])
        >>> variant.recipe.exponents
        Exponents(query=1.0, document=0.0, learned=False)
    """

    name: str
    recipe: ContrastiveOptions
    budget: Sequence[TrialSettings]
    same: tuple[str, ...] = ()  # others that train alike
    role: str = ""  # in the claims of papers
    setting: str = ""  # within which claims compare

    __repr__ = short_repr

    def __post_init__(self) -> None:
        """Refuse a budget with which nothing can be trained."""
        check_trials(self.budget)
        if not self.role:
            object.__setattr__(self, "role", self.name)

    def with_rate(self, rate: float) -> Variant:
        """The same variant, with that rate in every trial that leaves it open.

        Args:
            rate: Of a model that no rate was named for.

        Returns:
            A variant whose trials all have a rate.
        """
        return replace(self, budget=[(each, rate if own is None else own) for each, own in self.budget])


def budget_of(
    temperatures: Sequence[float] = TEMPERATURES, rates: Sequence[float | None] = RATES
) -> list[TrialSettings]:
    """The trials of a variant: each temperature with each rate; an error where one stands there twice."""
    for name, values in (("temperature", temperatures), ("rate", rates)):
        if len(set(values)) < len(values):
            raise ParameterError(f"a {name} stands there twice: give different values")
    trials = list(product(temperatures, rates))
    check_trials(trials)
    return trials


def check_trials(trials: Sequence[TrialSettings]) -> None:
    """Refuse temperatures and rates with which nothing can be trained, before anything is."""
    for temperature, rate in trials:
        check_temperature(temperature)
        if rate is not None and not (isfinite(rate) and rate > 0):
            raise ParameterError(f"rate = {rate} is not positive")


def grid(
    base: Recipe, budget: Sequence[TrialSettings], *, full: bool = False, pairs: bool = False, two_widths: bool = False
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
        return [swept(f"temperature {value:g}", base, [(value, base.rate)]) for value in SWEPT_TEMPERATURES]
    if parameter == "batch":
        return [swept(f"batch {value}", replace(base, batch=value), trial) for value in SWEPT_BATCHES]
    raise UnknownNameError("sweep", parameter, ["temperature", "batch"])


def swept(name: str, recipe: ContrastiveOptions, budget: Sequence[TrialSettings]) -> Variant:
    """A variant of a sweep: claims are judged of it alone, value by value."""
    return Variant(name, recipe, budget, role=role_of(recipe), setting=name)


def setting_without(setting: str, field: str) -> str:
    """A setting but for what it says of one field: ``loss clip + batch 16`` without its batch is ``loss clip``."""
    return JOIN.join(part for part in setting.split(JOIN) if not part.startswith(f"{field} "))


def role_of(recipe: ContrastiveOptions) -> str:
    """What a recipe is called in the claims of papers: its output, its input and what is added."""
    exponents, entering = recipe.exponents, write_normalize(recipe.normalize_input)
    named = [name for name, output in OUTPUTS.items() if Exponents.of(output) == exponents]
    parts = named or [write_normalize(recipe.normalize).replace(",", "/")]
    parts += [f"input {entering.replace(',', '/')}"] if entering != "none" else []
    parts += ["vrns"] if recipe.vrns else []
    parts += ["head"] if getattr(recipe, "magnitude", None) is not None else []
    return JOIN.join(parts)


def only(variants: Sequence[Variant], names: Sequence[str] | None) -> list[Variant]:
    """The variants that are named, in the order they stand in; all of them where no names are given."""
    if names is None:
        return list(variants)
    known = [variant.name for variant in variants]
    for name in names:
        if name not in known:
            raise UnknownNameError("variant", name, known)
    return [variant for variant in variants if variant.name in names]


def _variant(
    base: Recipe, budget: Sequence[TrialSettings], output: str, entering: str = "none", **switches: Any
) -> Variant:
    """A variant of the grid, named by its output, its input and what is added."""
    recipe = replace(base, normalize=OUTPUTS[output], normalize_input=entering, **switches)
    first, *added = role_of(recipe).split(JOIN)
    sides = [recipe.sides] if recipe.sides != base.sides else []
    return Variant(JOIN.join([first, *sides, *added]), recipe, budget)
