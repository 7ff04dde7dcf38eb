"""What to learn from, what to judge by, and recipes as somebody writes them down."""

from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import DataError, NoSuchSplitError, OffsphereError, ParameterError
from offsphere.learning.ablation.variant_choice import VariantRequest, choose_adapters, choose_encoders
from offsphere.learning.loading import load_named_task, load_parts, load_text_parts


@pytest.fixture
def folder(tmp_path):
    """Judgments of three splits, and vectors."""
    rng = np.random.default_rng(0)
    np.save(tmp_path / "documents.npy", rng.standard_normal((30, 4)).astype(np.float32))
    (tmp_path / "documents.ids").write_text("\n".join(f"d{d}" for d in range(30)))
    (tmp_path / "qrels").mkdir()
    for split, rows in {"train": range(12), "dev": range(12, 20), "test": range(20, 30)}.items():
        name = "queries" if split == "test" else f"queries-{split}"
        np.save(tmp_path / f"{name}.npy", rng.standard_normal((len(rows), 4)).astype(np.float32))
        (tmp_path / f"{name}.ids").write_text("\n".join(f"q{q}" for q in rows))
        (tmp_path / "qrels" / f"{split}.tsv").write_text("".join(f"q{q}\td{q}\t1\n" for q in rows))
    return tmp_path


def splits(parts):
    return [part[0].split if part is not None else None for part in parts]


def test_train_is_learned_from_and_test_is_judged_by_unless_others_are_named(folder):
    source = osp.EmbeddedSource(str(folder))
    assert splits(load_parts(source)) == ["train", "test"]
    assert splits(load_parts(source, split="dev")) == ["train", "dev"]
    assert splits(load_parts(source, train_split="dev")) == ["dev", "test"]


def test_data_of_one_split_is_left_to_be_divided(folder):
    for name in ("train", "dev"):
        (folder / "qrels" / f"{name}.tsv").unlink()
    parts = load_parts(osp.EmbeddedSource(str(folder)))
    assert splits(parts) == ["test", None]
    assert load_text_parts(str(folder)).test is None


def test_what_cannot_be_learned_from_is_refused(folder):
    source = osp.EmbeddedSource(str(folder))
    with pytest.raises(DataError, match="learn from 'train' and judge by it"):
        load_parts(source, split="train")
    with pytest.raises(NoSuchSplitError):
        load_parts(source, train_split="trian")


def test_what_is_loaded_already_is_not_loaded_again(folder):
    source = osp.EmbeddedSource(str(folder))
    judged = source.load()
    parts = load_parts(source, judged=judged)
    assert parts.test is judged
    (folder / "qrels" / "train.tsv").unlink()
    assert load_parts(source, judged=judged).train is judged


def test_data_is_named_with_a_split_or_without(folder):
    assert load_named_task(f"{folder}:dev").split == "dev"
    assert load_named_task(str(folder)).split == "test"
    assert load_named_task(f"{folder}:dev", reverse=True).name.endswith("reversed")


def test_an_adapter_is_learned_in_two_calls(folder):
    from offsphere.learning.adapters.learn import learn

    parts = osp.load_parts(osp.EmbeddedSource(str(folder)))
    assert learn(*parts, [osp.Recipe(epochs=1, batch=8)]).table.task["queries"] == 10


def test_a_sweep_takes_one_temperature_and_one_rate():
    choice = choose_adapters(osp.Recipe(), VariantRequest([0.1], [0.01], sweep="batch"))
    assert (choice.recipe.temperature, choice.recipe.rate) == (0.1, 0.01)
    assert {trial for variant in choice.variants for trial in variant.budget} == {(0.1, 0.01)}
    for wrong in ({"temperatures": [0.1, 0.2]}, {"rates": [0.1, 0.2]}, {"full": True}):
        with pytest.raises(ParameterError, match="a sweep varies one parameter"):
            choose_adapters(osp.Recipe(), VariantRequest(sweep="batch", **wrong))


def test_the_grid_of_adapters_waits_for_the_data():
    choice = choose_adapters(osp.Recipe(), VariantRequest([0.1]))
    assert choice.variants is None
    assert [temperature for temperature, _ in choice.budget] == [0.1] * 3


def test_an_encoders_grid_keeps_the_temperature_of_its_recipe_and_may_be_cut():
    grid = choose_encoders(osp.EncoderRecipe(temperature=0.02), VariantRequest(names=["dot", "cosine"]))
    assert [variant.name for variant in grid] == ["cosine", "dot"]
    assert {temperature for variant in grid for temperature, _ in variant.budget} == {0.02}
    with pytest.raises(OffsphereError, match="unknown variant"):
        choose_encoders(osp.EncoderRecipe(), VariantRequest(names=["sideways"]))


def test_what_is_typed_goes_before_the_file_and_the_file_before_the_recipe(tmp_path):
    from offsphere.learning.encoders.recipe_file import recipe_from

    path = tmp_path / "recipe.toml"
    path.write_text('recipe = "magnitude"\nbatch = 16\nsteps = 3\n')
    recipe = recipe_from(None, path, {"steps": 2, "rate": None}, ["pooling=cls"])
    assert (recipe.normalize, recipe.batch, recipe.steps, recipe.pooling) == ("query", 16, 2, "cls")
    assert recipe_from("clip", path).batch == 16
    path.write_text("[1, 2")
    with pytest.raises(DataError, match="is no TOML file"):
        recipe_from(None, path)
