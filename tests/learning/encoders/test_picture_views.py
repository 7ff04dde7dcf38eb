"""Two views of a picture: random, apart by side, and read as the model reads pictures."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import offsphere as osp
from offsphere.learning.encoders.contrastive import ContrastiveLoss
from offsphere.learning.encoders.item_reader import ItemReader
from offsphere.learning.encoders.picture_views import PictureViews
from tests.learning.encoders.painted import SIDE, painted
from tests.learning.encoders.test_images import tower


def two_views(model, kind="augmented", count=16):
    """The features of two views of the same pictures, as the trainer gets them."""
    images, _ = painted(count)
    reader = ItemReader(model, {"query": images, "document": images}, PictureViews(kind), seed=3)
    return [reader(list(range(count)), task=side) for side in ("query", "document")]


@pytest.mark.parametrize("kind", ["resnet", "vit"])
def test_nt_xent_on_two_views_is_that_of_pytorch_metric_learning(kind):
    losses = pytest.importorskip("pytorch_metric_learning.losses")
    model = tower(kind).eval()
    osp.prepare(model, "both")
    views = two_views(model)
    ours = ContrastiveLoss(model, "both", "simclr", temperature=0.2)([dict(view) for view in views])
    with torch.no_grad():
        vectors = torch.cat([model(dict(view))["sentence_embedding"] for view in views])
    labels = torch.arange(16).repeat(2)
    expected = losses.NTXentLoss(temperature=0.2)(vectors, labels)
    assert float(ours.detach()) == pytest.approx(float(expected), rel=1e-5)


def test_without_changes_the_trainer_sees_what_the_model_sees():
    """Whatever size pictures come in: their features are those of the model's own processor."""
    rng = np.random.default_rng(0)
    images = [osp.Image.of(rng.integers(0, 256, (*size, 3), np.uint8)) for size in ((SIDE, SIDE), (30, 17), (5, 9))]
    model = tower()
    reader = ItemReader(model, {"document": images}, PictureViews("none"), seed=0)
    expected = model.preprocess([image.picture() for image in images])["pixel_values"]
    assert torch.allclose(reader([0, 1, 2], task="document")["pixel_values"], expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["crops", "augmented"])
def test_views_are_random_apart_by_side_and_the_same_for_the_same_seed(kind):
    model = tower()
    left, right = (view["pixel_values"] for view in two_views(model, kind))
    again, _ = (view["pixel_values"] for view in two_views(model, kind))
    assert torch.equal(left, again)
    assert not torch.allclose(left, right, atol=0.05)
    assert left.shape == (16, 3, SIDE, SIDE)
    state = torch.random.get_rng_state()
    two_views(model, kind)
    assert torch.equal(state, torch.random.get_rng_state())  # views take nothing from anybody else's dice
