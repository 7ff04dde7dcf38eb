"""An encoder's recipe as somebody writes it down: by name, in a TOML or YAML file, and typed field by field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from offsphere.base.errors import ParameterError, UnknownNameError
from offsphere.base.reading.toml_files import read_settings
from offsphere.learning.encoders.encoder_recipe import ARROW, EncoderRecipe
from offsphere.learning.encoders.named_recipes import recipe_with
from offsphere.learning.objective.contrastive_options import read_field, read_options
from offsphere.learning.objective.exponents import read_normalize


def recipe_from(
    name: str | None = None,
    file: Path | None = None,
    typed: Mapping[str, Any] | None = None,
    options: Sequence[str] | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> EncoderRecipe:
    """A named recipe, changed by a file, then by what was typed; what is typed last goes before all else.

    Args:
        name: A recipe to start from; the file may name one too.
        file: Fields of a recipe in TOML or YAML.
        typed: Fields by their names; those that are None were not typed.
        options: Fields as ``NAME=VALUE``.
        defaults: Fields that hold where nobody says otherwise.

    Returns:
        The recipe, checked.

    Raises:
        DataError: Where the file cannot be read, or is no TOML or YAML.
        ParameterError: Where a value means nothing.
        UnknownNameError: Where no field or recipe has such a name.
    """
    values = {**(defaults or {}), **(read_recipe_file(file) if file is not None else {})}
    named_in_file = values.pop("recipe", None)
    if named_in_file is not None and not isinstance(named_in_file, str):
        raise ParameterError(f"{file}: recipe = {named_in_file!r} is no name of a recipe: see offsphere recipes")
    values |= {field: value for field, value in (typed or {}).items() if value is not None}
    values |= read_options(options, EncoderRecipe)
    for field in ("normalize", "normalize_input"):
        if isinstance(values.get(field), str) and ARROW not in values[field]:
            values[field] = read_normalize(values[field])
    return recipe_with(name or named_in_file, **values)


def read_recipe_file(path: Path) -> dict[str, Any]:
    """Fields of a recipe from TOML or YAML, and ``recipe`` where the file names one to start from."""
    values = read_settings(path)
    if not isinstance(values, dict):
        raise ParameterError(f"{path}: expected fields of a recipe, such as normalize: query")
    known = {field.name for field in fields(EncoderRecipe)} | {"recipe"}
    for name in values:
        if name not in known:
            raise UnknownNameError("option", str(name), sorted(known))
    if values.get("normalize", "both") is None:  # in Python nothing stands for what the recipe has
        raise ParameterError(
            f"{path}: normalize has no value: write the word none for the dot product, or leave it out"
        )
    return {
        name: value if name == "recipe" else read_field(name, value, EncoderRecipe) for name, value in values.items()
    }
