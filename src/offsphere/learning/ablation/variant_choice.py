"""Which variants a run trains: what somebody asked for, turned into recipes, trials and variants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from offsphere.base.errors import ParameterError
from offsphere.learning.ablation import encoder_variants, variants
from offsphere.learning.ablation.variants import Trial, Variant, budget_of
from offsphere.learning.adapters.adapter_recipe import Recipe
from offsphere.learning.encoders.encoder_recipe import EncoderRecipe


class AdapterChoice(NamedTuple):
    """The recipe all variants start from, the trials each may choose among, and the variants where they are fixed."""

    recipe: Recipe
    budget: Sequence[Trial]
    variants: Sequence[Variant] | None  # without: the grid, which depends on the data


def choose_adapters(
    recipe: Recipe,
    temperatures: Sequence[float] | None = None,
    rates: Sequence[float] | None = None,
    *,
    sweep: str | None = None,
    full: bool = False,
) -> AdapterChoice:
    """The variants of an adapter: the grid, or a sweep over one parameter, for which nothing else is tuned.

    Raises:
        ParameterError: Where a sweep is to vary more than its parameter.
    """
    budget = budget_of(temperatures or variants.TEMPERATURES, rates or variants.RATES)
    if sweep is None:
        return AdapterChoice(recipe, budget, None)
    if full or len(temperatures or ()) > 1 or len(rates or ()) > 1:
        raise ParameterError("a sweep varies one parameter: give one --temperature and one --rate at most, no --full")
    temperature, rate = (values[0] if values else None for values in (temperatures, rates))
    base = replace(recipe, temperature=temperature, rate=recipe.rate if rate is None else rate)
    return AdapterChoice(base, budget, variants.sweep(base, sweep))


def choose_encoders(
    recipe: EncoderRecipe,
    temperatures: Sequence[float] | None = None,
    rates: Sequence[float] | None = None,
    *,
    full: bool = False,
    only: Sequence[str] | None = None,
) -> list[Variant]:
    """The grid over an encoder's training, or ``only`` those of its variants that are named."""
    usual = encoder_variants.TEMPERATURES if recipe.temperature is None else (recipe.temperature,)
    budget = budget_of(temperatures or usual, rates or encoder_variants.RATES)
    grid = encoder_variants.encoder_grid(recipe, budget, full=full)
    return grid if only is None else encoder_variants.only(grid, only)
