"""Which variants a run trains: what somebody asked for, turned into recipes, trials and variants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from offsphere.base.errors import ParameterError
from offsphere.learning.ablation import encoder_variants, variants
from offsphere.learning.ablation.crossed import cross
from offsphere.learning.ablation.variants import TrialSettings, Variant, budget_of, only
from offsphere.learning.adapters.adapter_recipe import Recipe
from offsphere.learning.encoders.encoder_recipe import EncoderRecipe
from offsphere.learning.objective.contrastive_options import ContrastiveOptions


class VariantRequest(NamedTuple):
    """What somebody asked for, of adapters and of encoders alike."""

    temperatures: Sequence[float] | None = None
    rates: Sequence[float] | None = None
    full: bool = False
    sweep: str | None = None
    crossed: Mapping[str, Sequence[Any]] | None = None
    names: Sequence[str] | None = None  # of the variants, those alone

    def check(self) -> None:
        """Refuse what contradicts itself.

        Raises:
            ParameterError: Where a sweep is to vary more than its parameter, or the grid is asked for beside others.
        """
        if self.sweep is not None and self.crossed:
            raise ParameterError("--sweep varies one parameter and --cross several: give one of them")
        if self.crossed and self.full:
            raise ParameterError("--full crosses the grid and --cross the fields you name: give one of them")
        several = len(self.temperatures or ()) > 1 or len(self.rates or ()) > 1
        if self.sweep is not None and (self.full or several):
            raise ParameterError(
                "a sweep varies one parameter: give one --temperature and one --rate at most, no --full"
            )

    def budget(self, recipe: ContrastiveOptions, temperature: float, rate: float | None) -> list[TrialSettings]:
        """The trials of variants for which nothing is tuned unless several values are given."""
        given = self.temperatures or [recipe.temperature or temperature]
        return budget_of(given, self.rates or [rate if recipe.rate is None else recipe.rate])


class AdapterChoice(NamedTuple):
    """The recipe all variants start from, the trials each may choose among, and the variants where they are fixed."""

    recipe: Recipe
    budget: Sequence[TrialSettings]
    variants: Sequence[Variant] | None  # without: the grid, which depends on the data
    names: Sequence[str] | None = None  # of the variants, those alone


def choose_adapters(recipe: Recipe, asked: VariantRequest = VariantRequest()) -> AdapterChoice:  # noqa: B008  # it is frozen
    """The variants of an adapter: the grid, a sweep over one parameter, or a cross of several.

    Raises:
        ParameterError: Where what was asked for contradicts itself.
    """
    asked.check()
    budget = budget_of(asked.temperatures or variants.TEMPERATURES, asked.rates or variants.RATES)
    if asked.crossed:
        trials = asked.budget(recipe, variants.TEMPERATURES[1], recipe.rate)
        return AdapterChoice(recipe, budget, only(cross(recipe, asked.crossed, trials), asked.names))
    if asked.sweep is None:
        return AdapterChoice(recipe, budget, None, asked.names)
    temperature, rate = (values[0] if values else None for values in (asked.temperatures, asked.rates))
    base = replace(recipe, temperature=temperature or recipe.temperature, rate=recipe.rate if rate is None else rate)
    return AdapterChoice(base, budget, only(variants.sweep(base, asked.sweep), asked.names))


def choose_encoders(
    recipe: EncoderRecipe,
    asked: VariantRequest = VariantRequest(),  # noqa: B008  # it is frozen
    usual: Sequence[float | None] = (None,),
) -> list[Variant]:
    """The variants of an encoder's training: the grid, a sweep over one parameter, or a cross of several.

    Args:
        recipe: What all variants have in common.
        asked: What somebody asked for.
        usual: The rates among which a variant of the grid chooses where neither recipe nor anybody names one.

    Raises:
        ParameterError: Where what was asked for contradicts itself.
    """
    asked.check()
    first = encoder_variants.TEMPERATURES[0]
    if asked.crossed:
        return only(cross(recipe, asked.crossed, asked.budget(recipe, first, None)), asked.names)
    if asked.sweep is not None:
        ((temperature, rate),) = asked.budget(recipe, first, None)
        base = replace(recipe, temperature=temperature, rate=rate)
        return only(encoder_variants.encoder_sweep(base, asked.sweep), asked.names)
    temperatures = encoder_variants.TEMPERATURES if recipe.temperature is None else (recipe.temperature,)
    rates = usual if recipe.rate is None else (recipe.rate,)
    budget = budget_of(asked.temperatures or temperatures, asked.rates or rates)
    return only(encoder_variants.encoder_grid(recipe, budget, full=asked.full), asked.names)
