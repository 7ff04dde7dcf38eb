"""The rate that fits a model by itself: a static one wants a hundred times that of a transformer."""

from __future__ import annotations

import pytest

import offsphere as osp
from offsphere.learning.encoders.usual_rates import usual_rates


def test_a_static_model_has_a_rate_of_its_own_by_name_and_in_memory(static, transformer, transformer_folder, tmp_path):
    static.save_pretrained(str(tmp_path / "static"), create_model_card=False)
    assert usual_rates(static).one == usual_rates(str(tmp_path / "static")).one == usual_rates("wordllama").one == 3e-3
    assert usual_rates(transformer).one == usual_rates(str(transformer_folder)).one == 2e-5
    assert usual_rates("somebody/on-the-hub").one == 2e-5


def test_untrained_weights_have_higher_rates(transformer):
    assert usual_rates(transformer, from_scratch=True).one > usual_rates(transformer).one
    assert usual_rates("scratch:resnet:32").one == 1e-3


@pytest.mark.parametrize(("rate", "used"), [(None, 3e-3), (1e-4, 1e-4)])
def test_a_training_takes_the_usual_rate_unless_one_is_given(words, static, rate, used):
    trained = osp.train(words, static, batch=16, steps=1, rate=rate)
    assert trained.plan["recipe"]["rate"] == trained.record.recipe["rate"] == used


def test_variants_of_an_ablation_take_the_usual_rates_of_the_model(words, static, tmp_path):
    static.save_pretrained(str(tmp_path / "static"), create_model_card=False)
    variants = osp.encoder_sweep(osp.EncoderRecipe(steps=2), "batch", ["8", "16"])
    ablation = osp.ablate_encoder(words, str(tmp_path / "static"), variants=variants)
    assert [row.rate for row in ablation.rows] == [3e-3, 3e-3]
