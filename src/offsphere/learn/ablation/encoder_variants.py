"""Variants of an encoder's training: the grid of normalisations, and sweeps over one parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from offsphere.base.errors import ParameterError, UnknownNameError
from offsphere.learn.ablation.variants import INPUTS, OUTPUTS, VRNS_WEIGHT, Trial, Variant
from offsphere.learn.encoders.encoder_recipe import EncoderRecipe

TEMPERATURES = (0.05,)  # the budget every variant has: each with each
RATES = (1e-5, 5e-5)
SWEPT = {
    "temperature": ("0.0125", "0.025", "0.05", "0.1", "0.2"),  # powers of two
    "batch": ("16", "64", "256"),
    "pooling": ("mean", "cls", "max"),
}


def encoder_grid(base: EncoderRecipe, budget: Sequence[Trial], *, full: bool = False) -> list[Variant]:
    """Every output as it comes; cosine and dot with normalised token vectors, and cosine with VRNS.

    ``full`` crosses outputs, inputs and VRNS. The first is the baseline: cosine, raw input, nothing added.
    """
    plain = [_variant(base, budget, output) for output in OUTPUTS]
    if not full:
        more = [_variant(base, budget, output, "both") for output in ("cosine", "dot")]
        return [*plain, *more, _variant(base, budget, "cosine", vrns=VRNS_WEIGHT)]
    crossed = product((0.0, VRNS_WEIGHT), INPUTS, OUTPUTS)
    rest = [_variant(base, budget, output, entering, vrns) for vrns, entering, output in crossed]
    return [*plain, *rest[len(plain) :]]


def only(variants: Sequence[Variant], names: Sequence[str]) -> list[Variant]:
    """Some of them by name, in the order of the grid."""
    known = [variant.name for variant in variants]
    for name in names:
        if name not in known:
            raise UnknownNameError("variant", name, known)
    return [variant for variant in variants if variant.name in names]


def encoder_sweep(base: EncoderRecipe, parameter: str, values: Sequence[str] = ()) -> list[Variant]:
    """One parameter over its values, nothing else tuned."""
    if parameter not in SWEPT:
        raise UnknownNameError("sweep", parameter, list(SWEPT))
    temperature = base.temperature or TEMPERATURES[0]
    found = []
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
        found.append(Variant(f"{parameter} {value}", recipe, [trial]))
    return found


def _variant(
    base: EncoderRecipe, budget: Sequence[Trial], output: str, entering: str = "none", vrns: float = 0.0
) -> Variant:
    recipe = replace(base, normalize=OUTPUTS[output], normalize_input=entering, vrns=vrns)
    parts = [output, *([f"input {entering}"] if entering != "none" else []), *(["vrns"] if vrns else [])]
    return Variant(", ".join(parts), recipe, budget)
