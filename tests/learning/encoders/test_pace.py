"""PACE: cosine by thin matrices first, then the dot product by all weights, hard pairs first; the general switch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

import offsphere as osp
from offsphere.base.errors import OffsphereError, ParameterError
from offsphere.learning.encoders.encoder_setup import EncoderSetup, text_data
from offsphere.learning.encoders.fit import fit
from offsphere.learning.encoders.lora import add_lora, merge_lora
from offsphere.learning.objective.batch import Batch
from offsphere.learning.objective.objective import Objective
from tests.learning.encoders.trainings import TRAIN, load, run_script

TEXTS = ["red cat sleeps", "the old dog runs near a river"]


def weights_of(model):
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}


def test_thin_matrices_change_nothing_until_they_learn_and_are_added_up_in_the_end(transformer):
    before = transformer.encode(TEXTS)
    names = set(weights_of(transformer))
    add_lora(transformer, 4)
    assert np.allclose(transformer.encode(TEXTS), before, atol=1e-6)
    thin = [weight for name, weight in transformer.named_parameters() if "lora_B" in name]
    assert len(thin) == 2 * 6 + 1  # six linear layers a block, and the pooler
    for weight in thin:
        torch.nn.init.normal_(weight, std=0.1)
    learned = transformer.encode(TEXTS)
    assert not np.allclose(learned, before, atol=1e-3)
    assert merge_lora(transformer)
    assert np.allclose(transformer.encode(TEXTS), learned, atol=1e-5)
    assert set(weights_of(transformer)) == names  # a plain model again
    assert not merge_lora(transformer)


def test_first_the_thin_matrices_learn_and_then_all_other_weights(words, transformer):
    recipe = osp.recipe_with("pace", steps=8, batch=16, dynamics_every=0, rate=1e-3, lora=4)
    setup = EncoderSetup.of(transformer, text_data(words), recipe, 0)
    states = []
    fit(setup.model, recipe, setup.pairs, setup.judge, 0, before_step=lambda _: states.append(weights_of(setup.model)))
    thin = [name for name in states[0] if "lora_" in name]
    base = [name for name in states[0] if "lora_" not in name and "pooler" not in name]

    def moved(names, start, end):
        return [name for name in names if not torch.equal(states[start][name], states[end][name])]

    assert moved(thin, 0, 4)
    assert not moved(base, 0, 4)
    assert len(moved(base, 4, 7)) > len(base) / 2
    assert not moved(thin, 4, 7)


def test_a_model_trained_by_pace_is_saved_as_a_plain_one(words, transformer_folder, tmp_path):
    trained = osp.train(words, load(transformer_folder), tmp_path / "m", recipe="pace", steps=4, batch=16, rate=1e-3)
    again = load(tmp_path / "m")
    assert type(again[0]) is type(trained.model[0])
    assert np.allclose(again.encode(TEXTS), trained.model.encode(TEXTS), atol=1e-6)
    assert trained.plan["similarity"] == "dot"


@pytest.mark.slow
def test_a_killed_training_with_thin_matrices_ends_in_the_same_weights(transformer_folder, tmp_path):
    """Killed in the second part: what the first part learned is in no file that the trainer itself knows."""
    for out, kill in (("whole", 0), ("killed", 14), ("killed", 0)):
        run_script(TRAIN_PACE, transformer_folder, tmp_path / out, kill, 0, "pace", ok=not kill)
    one, other = (load(tmp_path / name).encode(TEXTS) for name in ("whole", "killed"))
    assert np.array_equal(one, other)


# learned exponents are not for what switches
TRAIN_PACE = TRAIN.replace('normalize="learn", ', "")


def test_focal_weights_are_those_of_the_positives_share_by_cosine():
    """Against the formula written out in plain torch: weights by cosine, losses by the dot product."""
    rng = np.random.default_rng(0)
    queries, documents = (torch.tensor(rng.normal(size=(6, 5)) * rng.uniform(0.5, 3, (6, 1))) for _ in range(2))
    objective = Objective("none", temperature=0.5, scale="fixed", focal=2.0).double()
    mine = objective(Batch(queries, documents))
    units = [functional.normalize(side, dim=1) for side in (queries, documents)]
    shares = (2 * units[0] @ units[1].T).softmax(dim=1).diagonal()
    losses = -(2 * queries @ documents.T).log_softmax(dim=1).diagonal()
    assert float(mine) == pytest.approx(float(((1 - shares) ** 2 * losses).mean()), rel=1e-6)


def test_without_a_power_all_pairs_weigh_the_same():
    rng = np.random.default_rng(1)
    batch = Batch(*(torch.tensor(rng.normal(size=(6, 5))) for _ in range(2)))
    plain, focal = (Objective("both", "simclr", focal=power).double()(batch) for power in (0.0, 1e-9))
    assert float(plain) == pytest.approx(float(focal), rel=1e-6)
    with pytest.raises(ParameterError, match="siglip has none"):
        Objective("both", "siglip", focal=1.0).double()(batch)


@pytest.mark.parametrize(
    ("text", "first", "then"), [("both->none", "both", "none"), ("cosine -> 1,0.5", "cosine", (1.0, 0.5))]
)
def test_any_output_may_be_trained_before_another(text, first, then):
    recipe = osp.recipe_with(None, normalize=text)
    assert (recipe.first, recipe.normalize) == (first, then)
    assert recipe.lora is None
    assert osp.recipe_with(recipe) == recipe


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"normalize": "learn->none"}, "exponents are learned for what is scored in the end"),
        ({"normalize": "both->sideways"}, "unknown normalisation"),
        ({"lora": 4}, "add first=both"),
        ({"normalize": "both->none", "lora": 0}, "lora = 0: give at least 1"),
        ({"first_share": 1.0}, "a share of the steps"),
    ],
)
def test_a_switch_that_means_nothing_is_refused(options, reason):
    with pytest.raises(OffsphereError, match=reason):
        osp.EncoderRecipe(**options)


def test_a_static_model_has_no_layers_to_put_matrices_beside(words, static):
    with pytest.raises(ParameterError, match="no transformer whose layers could"):
        osp.train(words, static, recipe="pace", steps=2, batch=16)


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("moco", {"temperature": 0.07, "momentum": 0.999, "queue": 65_536, "batch": 256}),
        ("contriever", {"temperature": 0.05, "momentum": 0.9995, "queue": 131_072, "rate": 5e-5, "normalize": "none"}),
    ],
)
def test_settings_are_those_of_the_papers_tables(name, published):
    recipe = osp.recipe_with(name)
    assert {field: getattr(recipe, field) for field in published} == published
