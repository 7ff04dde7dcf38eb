"""Image towers from scratch: what they are made of, and their names."""

from __future__ import annotations

import torch

import offsphere as osp
from offsphere.learning.encoders.item_reader import image_processor
from offsphere.learning.encoders.trainable import load_model
from tests.learning.encoders.painted import SIDE


def test_the_residual_tower_is_a_resnet_after_a_stem_that_halves_once():
    """With the same weights, blocks of transformers' own ResNet give what the tower gives."""
    from transformers.models.resnet.modeling_resnet import ResNetBottleNeckLayer

    network = osp.image_tower("resnet", 28, 32, seed=3)[0].model.eval()
    pixels = torch.randn(4, 3, 28, 28, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        hidden = network.embedder(pixels)
        assert hidden.shape[-2:] == (14, 14)
        for stage, (given, width, stride) in zip(
            network.encoder.stages, ((8, 8, 1), (8, 16, 2), (16, 32, 2)), strict=True
        ):
            block = ResNetBottleNeckLayer(given, width, stride, reduction=1).eval()
            block.load_state_dict(stage.layers[0].state_dict())
            hidden = block(hidden)
        assert torch.allclose(hidden.mean(dim=(2, 3)), network(pixels).pooler_output.flatten(1), atol=1e-6)


def test_towers_are_made_by_name(transformer_folder):
    joined = load_model(f"{transformer_folder}+scratch:vit:{SIDE}:16")
    assert sorted(joined.modalities) == ["image", "text"]
    assert image_processor(joined).size["height"] == SIDE
    seeds = [osp.image_tower("vit", SIDE, 16, seed).state_dict() for seed in (0, 0, 1)]
    name = next(name for name, value in seeds[0].items() if value.std() > 0)
    assert torch.equal(seeds[0][name], seeds[1][name])
    assert not torch.equal(seeds[0][name], seeds[2][name])
