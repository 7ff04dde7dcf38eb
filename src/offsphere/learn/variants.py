"""Variants of a recipe to hold against each other: the grid of normalisations, and sweeps over one parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType

from offsphere.errors import UnknownNameError
from offsphere.learn.recipe import Recipe

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
    recipe: Recipe
    budget: Sequence[Trial]


def budget_of(temperatures: Sequence[float] = TEMPERATURES, rates: Sequence[float] = RATES) -> list[Trial]:
    """Each temperature with each rate."""
    return list(product(temperatures, rates))


def grid(base: Recipe, budget: Sequence[Trial], *, full: bool = False) -> list[Variant]:
    """Every output with every input, untied; and every output tied, with VRNS, and with a magnitude head.

    ``full`` crosses all five switches. The first is the baseline: cosine, raw input, untied, nothing added.
    """
    found = [_variant(base, budget, output, entering) for output in OUTPUTS for entering in INPUTS]
    if not full:
        found += [_variant(base, budget, output, tied=True) for output in OUTPUTS]
        found += [_variant(base, budget, output, vrns=True) for output in OUTPUTS]
        found += [_variant(base, budget, output, head=True) for output in OUTPUTS]
        return found
    switches = [choice for choice in product((False, True), repeat=3) if any(choice)]
    found += [
        _variant(base, budget, output, entering, tied=tied, vrns=vrns, head=head)
        for tied, vrns, head in switches
        for output in OUTPUTS
        for entering in INPUTS
    ]
    return found


def sweep(base: Recipe, parameter: str) -> list[Variant]:
    """One parameter over its values, nothing else tuned: temperature in powers of two, or batch."""
    trial = [(base.temperature or TEMPERATURES[1], base.rate)]
    if parameter == "temperature":
        return [Variant(f"temperature {value:g}", base, [(value, base.rate)]) for value in SWEPT_TEMPERATURES]
    if parameter == "batch":
        return [Variant(f"batch {value}", replace(base, batch=value), trial) for value in SWEPT_BATCHES]
    raise UnknownNameError("sweep", parameter, ["temperature", "batch"])


def _variant(
    base: Recipe,
    budget: Sequence[Trial],
    output: str,
    entering: str = "none",
    *,
    tied: bool = False,
    vrns: bool = False,
    head: bool = False,
) -> Variant:
    parts = [output]
    parts += [f"input {entering}"] if entering != "none" else []
    parts += [name for name, on in (("tied", tied), ("vrns", vrns), ("head", head)) if on]
    recipe = replace(
        base,
        normalize=OUTPUTS[output],
        normalize_input=entering,
        sides="tied" if tied else "untied",
        vrns=VRNS_WEIGHT if vrns else 0.0,
        magnitude="multiplied" if head else None,
    )
    return Variant(", ".join(parts), recipe, budget)
