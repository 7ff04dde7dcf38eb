"""Variants of an encoder's training: the grid of normalisations, and sweeps over one parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from offsphere.base.errors import ParameterError, UnknownNameError
from offsphere.learning.ablation.variants import INPUTS, OUTPUTS, VRNS_WEIGHT, TrialSettings, Variant, role_of, swept
from offsphere.learning.encoders.encoder_recipe import EncoderRecipe

TEMPERATURES = (0.05,)  # the budget every variant has: each with each
SWEPT = {
    "temperature": ("0.0125", "0.025", "0.05", "0.1", "0.2"),  # powers of two
    "batch": ("16", "64", "256"),
    "pooling": ("mean", "cls", "max"),
}


def encoder_grid(base: EncoderRecipe, budget: Sequence[TrialSettings], *, full: bool = False) -> list[Variant]:
    """The grid over an encoder's training: every output, two with normalised token vectors, and cosine with VRNS.

    Args:
        base: What all variants have in common.
        budget: The temperatures and rates among which each variant chooses.
        full: Whether outputs, inputs and VRNS are all crossed: 48 variants instead of 9.

    Returns:
        The variants; the first is the baseline: cosine, raw input, nothing added.

    Example:
        >>> import offsphere as osp
        >>> variants = osp.encoder_grid(osp.EncoderRecipe(), [(0.05, 5e-5)])
        >>> [variant.name for variant in variants][-3:]
        ['cosine + input both', 'dot + input both', 'cosine + vrns']
        >>> len(osp.encoder_grid(osp.EncoderRecipe(), [(0.05, 5e-5)], full=True))
        48
    """
    plain = [_variant(base, budget, output) for output in OUTPUTS]
    if not full:
        more = [_variant(base, budget, output, "both") for output in ("cosine", "dot")]
        return [*plain, *more, _variant(base, budget, "cosine", vrns=VRNS_WEIGHT)]
    crossed = product((0.0, VRNS_WEIGHT), INPUTS, OUTPUTS)
    rest = [_variant(base, budget, output, entering, vrns) for vrns, entering, output in crossed]
    return [*plain, *rest[len(plain) :]]


def encoder_sweep(base: EncoderRecipe, parameter: str, values: Sequence[str] = ()) -> list[Variant]:
    """Variants that differ in one parameter, for ``ablate_encoder``; nothing else is tuned.

    Args:
        base: What all variants have in common.
        parameter: temperature, batch or pooling.
        values: The values as one would type them; the usual ones without.

    Returns:
        A variant for each value; the first is the baseline. Where the recipe has no rate, ``ablate_encoder`` takes the
        usual one of the model.

    Raises:
        UnknownNameError: If the parameter is another one.
        ParameterError: If a value means nothing, or stands there twice.

    Example:
        >>> import offsphere as osp
        >>> [variant.name for variant in osp.encoder_sweep(osp.EncoderRecipe(), "batch")]
        ['batch 16', 'batch 64', 'batch 256']
        >>> osp.encoder_sweep(osp.EncoderRecipe(), "temperature", ["0.1"])[0].budget
        [(0.1, None)]
    """
    if parameter not in SWEPT:
        raise UnknownNameError("sweep", parameter, list(SWEPT))
    temperature = base.temperature or TEMPERATURES[0]
    variants = []
    for value in values or SWEPT[parameter]:
        try:
            if parameter == "temperature":
                recipe, trial = base, (float(value), base.rate)
            elif parameter == "batch":
                recipe, trial = replace(base, batch=int(value)), (temperature, base.rate)
            else:
                recipe, trial = replace(base, pooling=value), (temperature, base.rate)
        except ValueError as error:
            raise ParameterError(f"{parameter} = {value!r} is not a number") from error
        variants.append(swept(f"{parameter} {value}", recipe, [trial]))
        if (recipe, [trial]) in [(other.recipe, other.budget) for other in variants[:-1]]:
            raise ParameterError(f"{parameter} {value} stands there twice: a sweep needs different values")
    return variants


def _variant(
    base: EncoderRecipe, budget: Sequence[TrialSettings], output: str, entering: str = "none", vrns: float = 0.0
) -> Variant:
    """A variant of the grid, named by its output, its input and what is added."""
    recipe = replace(base, normalize=OUTPUTS[output], normalize_input=entering, vrns=vrns)
    return Variant(role_of(recipe), recipe, budget)
