"""No field of a recipe takes a number that cannot be computed with, however it is written."""

from __future__ import annotations

from math import inf, nan

import pytest

from offsphere.base.errors import OffsphereError
from offsphere.learning.ablation.variants import budget_of
from offsphere.learning.adapters.adapter_recipe import Recipe
from offsphere.learning.encoders.encoder_recipe import EncoderRecipe
from offsphere.learning.encoders.recipe_file import recipe_from
from offsphere.learning.objective.contrastive_options import read_options
from offsphere.learning.objective.option_fields import option_fields

FIELDS = [(kind, field) for kind in (Recipe, EncoderRecipe) for field in option_fields(kind).values()]
NUMBERS = [(kind, field.name) for kind, field in FIELDS if field.kind in (int, float)]
FLOATS = [(kind, field.name) for kind, field in FIELDS if field.kind is float]
COUNTS = [(kind, field.name) for kind, field in FIELDS if field.kind is int]


@pytest.mark.parametrize(("kind", "name"), NUMBERS)
@pytest.mark.parametrize("value", [nan, inf, -inf, True, "1", [1.0], 10**400, 2**70])
def test_what_is_no_number_is_refused(kind, name, value):
    with pytest.raises(OffsphereError, match=f"^{name} = ") as caught:
        kind(**{name: value})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("kind", "name"), COUNTS)
@pytest.mark.parametrize("value", [-1, 0.5, -(2**40)])
def test_what_is_no_count_is_refused(kind, name, value):
    with pytest.raises(OffsphereError, match=f"^{name} = "):
        kind(**{name: value})


@pytest.mark.parametrize(("kind", "name"), NUMBERS)
@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e400", "", "x", "1,2", "0x10", "None", "true"])
def test_what_is_typed_and_no_number_is_refused(kind, name, text):
    with pytest.raises(OffsphereError, match=f"^{name} = "):
        kind(**read_options([f"{name}={text}"], kind))


@pytest.mark.parametrize(("kind", "name"), COUNTS)
@pytest.mark.parametrize("text", ["2.5", "-3", "1e30", "9" * 40])
def test_what_is_typed_and_no_count_is_refused(kind, name, text):
    with pytest.raises(OffsphereError, match=f"^{name} = "):
        kind(**read_options([f"{name}={text}"], kind))


def test_a_count_may_be_written_as_one_likes():
    assert read_options(["batch=1e3", "patience=7"], Recipe) == {"batch": 1_000, "patience": 7}


@pytest.mark.parametrize("kind", [Recipe, EncoderRecipe])
@pytest.mark.parametrize("field", ["normalize", "normalize_input"])
@pytest.mark.parametrize("value", [(1e9, 1), (1, -11), (nan, 1), (inf, 0), (10**400, 1), (1,), (1, 2, 3), ("a", 1), 3])
def test_exponents_that_leave_no_numbers_are_refused(kind, field, value):
    with pytest.raises(OffsphereError, match="normalize = "):
        kind(**{field: value})


@pytest.mark.parametrize("text", ["1e9,1", "nan,1", "1,inf", "1,", ",", "1,2,3", "1;2", ""])
def test_exponents_that_are_typed_wrong_are_refused(text):
    with pytest.raises(OffsphereError, match=r"normali[sz]"):
        Recipe(**read_options([f"normalize={text}"], Recipe))


@pytest.mark.parametrize("value", [(1,), (1, 2, 3), (nan, 1), (1, inf), (-1, 1), (1, "2"), (True, 1), 5])
def test_a_length_to_draw_to_is_two_numbers(value):
    with pytest.raises(OffsphereError, match=r"length_target = .*: give a length and its weight"):
        Recipe(length_target=value)


@pytest.mark.parametrize("momentum", [-0.1, 1.5])
def test_momentum_is_a_share(momentum):
    with pytest.raises(OffsphereError, match="from 0 to 1"):
        EncoderRecipe(momentum=momentum)


@pytest.mark.parametrize("temperature", [0.0, -1.0, 1e-9, 1e9])
def test_a_temperature_leaves_scores_that_are_numbers(temperature):
    for kind in (Recipe, EncoderRecipe):
        with pytest.raises(OffsphereError, match=r"^temperature = "):
            kind(temperature=temperature)


@pytest.mark.parametrize(
    ("temperatures", "rates"), [([nan], [0.1]), ([0.0], [0.1]), ([0.1], [inf]), ([0.1], [0.0]), ([0.1], [nan])]
)
def test_a_budget_is_checked_before_anything_is_trained(temperatures, rates):
    with pytest.raises(OffsphereError, match=" = "):
        budget_of(temperatures, rates)


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("r.toml", b"\xff\xfe = 1", "is not UTF-8 text"),
        ("r.toml", b"batch = ", "is no TOML file"),
        ("r.toml", b"temperature = nan", "^temperature = nan"),
        ("r.toml", b"rate = inf", "^rate = inf"),
        ("r.toml", b"batch = 99999999999999999999999999", "^batch = "),
        ("r.toml", b"recipe = 5", "is no name of a recipe"),
        ("r.toml", b"prompts = [1, 2]", "^prompts = "),
        ("r.toml", b"dimensions = ['a']", "^dimensions = "),
        ("r.toml", b"normalize = {a = 1}", "normalize = "),
        ("r.toml", b"a = " + b"[" * 5_000, "nested too deep|is no TOML file"),
        ("r.yaml", b"a: [1\nb: {", "is no YAML file: .* in line"),
        ("r.yaml", b"- 1\n- 2", "expected fields of a recipe"),
        ("r.yaml", b"1: 2", "unknown option '1'"),
        ("r.yaml", b"rate: .nan", "^rate = nan"),
        ("r.yaml", b"batch: !!python/object/apply:os.system ['true']", "is no YAML file"),
        ("r.yaml", b"\x00", "is no YAML file"),
        ("r.yaml", b"normalize:\nbatch: 16", "r.yaml: normalize has no value: write the word none"),
        ("r.yaml", b"normalize: ~", "normalize has no value"),
        ("r.yaml", b"normalize_input: null", "^normalize = None"),
    ],
)
def test_a_recipe_file_is_read_or_refused_in_one_line(tmp_path, name, content, match):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(OffsphereError, match=match) as caught:
        recipe_from(file=tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_folder_is_no_recipe(tmp_path):
    with pytest.raises(OffsphereError, match="is a folder, not a file"):
        recipe_from(file=tmp_path)
