"""Variants that cross the values of several fields of a recipe: VRNS by batch, loss by temperature, or any others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from offsphere.base.errors import ParameterError
from offsphere.learning.ablation.variants import JOIN, TrialSettings, Variant, role_of
from offsphere.learning.objective.contrastive_options import ContrastiveOptions, read_options

# fields that say what a variant is in the claims of papers; the others are the setting in which it is judged
OF_ROLE = ("normalize", "normalize_input", "vrns", "magnitude")
MOST = 500  # variants that anybody waits for


def cross(
    base: ContrastiveOptions, fields: Mapping[str, Sequence[Any]], budget: Sequence[TrialSettings] | None = None
) -> list[Variant]:
    """Every combination of the values of some fields, for ``ablate`` and ``ablate_encoder``; nothing else is tuned.

    Variants that differ in their normalisation or in VRNS alone are held against each other by the claims of papers,
    within each setting of all other fields: VRNS crossed with the batch is judged batch by batch.

    Args:
        base: What all variants have in common, of an adapter or of an encoder.
        fields: The values of each field by its name; the first ones make the baseline.
        budget: The temperatures and rates among which each variant chooses; those of ``base`` without. A field that is
            crossed goes before it.

    Returns:
        A variant for each combination, in the order of the fields; names have no comma.

    Raises:
        ParameterError: If a value means nothing or stands there twice, or there are too many combinations.
        UnknownNameError: If a field is not known.

    Example:
        >>> import offsphere as osp
        >>> crossed = osp.cross(osp.Recipe(), {"vrns": [0.0, 30.0], "batch": [16, 64]})
        >>> [variant.name for variant in crossed]
        ['vrns 0 + batch 16', 'vrns 0 + batch 64', 'vrns 30 + batch 16', 'vrns 30 + batch 64']
        >>> crossed[2].role, crossed[2].setting
        ('cosine + vrns', 'batch 16')
    """
    count = 1
    for name, values in fields.items():
        count *= len(values)
        if not values:
            raise ParameterError(f"{name} has no values to cross")
        if len({repr(value) for value in values}) < len(values):
            raise ParameterError(f"a value of {name} stands there twice: give different values")
    if not fields or count > MOST:
        raise ParameterError(f"{count:,} combinations: cross at least one field, and at most {MOST} combinations")
    trials = list(budget or [(base.temperature or 1 / 20, base.rate)])
    return [_crossed(base, dict(zip(fields, values, strict=True)), trials) for values in product(*fields.values())]


def read_cross(texts: Sequence[str], kind: type[ContrastiveOptions]) -> dict[str, list[Any]]:
    """Read what is crossed as somebody types it: ``vrns=0,30``; values that hold commas are parted by semicolons.

    Args:
        texts: A field with its values each.
        kind: The recipe whose fields they are.

    Returns:
        The values of each field, in the order typed.

    Raises:
        ParameterError: If a text is no field with values, or a field comes twice.
        UnknownNameError: If a field is not known.

    Example:
        >>> import offsphere as osp
        >>> read_cross(["batch=16,64", "normalize=both;1,0.5"], osp.Recipe)
        {'batch': [16, 64], 'normalize': ['both', (1.0, 0.5)]}
    """
    fields: dict[str, list[Any]] = {}
    for text in texts:
        name, given, values = text.partition("=")
        if not given or not values:
            raise ParameterError(f"--cross {text!r}: write a field and its values, such as vrns=0,30")
        if name in fields:
            raise ParameterError(f"--cross has {name} twice: give all of its values at once")
        parts = values.split(";" if ";" in values else ",")
        fields[name] = [read_options([f"{name}={part.strip()}"], kind)[name] for part in parts]
    return fields


def _crossed(base: ContrastiveOptions, values: Mapping[str, Any], budget: Sequence[TrialSettings]) -> Variant:
    """One combination, by the values of its fields."""
    recipe = base.with_options(values)
    trials = [(values.get("temperature", each), values.get("rate", rate)) for each, rate in budget]
    parts = {name: f"{name.replace('_', ' ')} {_written(value)}" for name, value in values.items()}
    setting = [part for name, part in parts.items() if name not in OF_ROLE]
    return Variant(
        JOIN.join(parts.values()),
        recipe,
        list(dict.fromkeys(trials)),
        role=role_of(recipe),
        setting=JOIN.join(setting),
    )


def _written(value: Any) -> str:
    """A value as a part of a name, without commas."""
    if isinstance(value, tuple):
        return "/".join(map(_written, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value).replace(",", "/").replace("_", " ").lower()
