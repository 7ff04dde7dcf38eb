"""The gap between texts and images, and length against certainty, against numpy, scipy and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.data.captioned import CaptionedImage, caption_task

COUNT = 60


@pytest.fixture(scope="module")
def embedded():
    """Images lie away from their captions; the better a pair fits, the longer its caption's vector."""
    random = np.random.default_rng(0)
    images = random.normal(size=(COUNT, 8)).astype(np.float32)
    noise = np.linspace(0.1, 3, COUNT)[:, None]
    texts = images + noise * random.normal(size=images.shape)
    texts = texts / np.linalg.norm(texts, axis=1, keepdims=True) / noise
    squares = [osp.Image.of(np.full((1, 1), number, np.uint8)) for number in range(COUNT)]
    rows = [CaptionedImage(str(number), square, ["a"], "x") for number, square in enumerate(squares)]
    task = caption_task("pairs", rows, "x")
    return task, task.vectors(texts.astype(np.float32), images + 2)


def test_the_gap_is_the_distance_of_the_mean_directions_and_its_share_of_the_variance(embedded):
    shape = osp.measure(*embedded)
    first, second = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in embedded[1].sides)
    assert shape.modalities.gap == pytest.approx(np.linalg.norm(first.mean(axis=0) - second.mean(axis=0)), rel=1e-5)
    both = np.concatenate([first, second])
    within = first.var(axis=0).sum() * len(first) + second.var(axis=0).sum() * len(second)
    assert shape.modalities.variance_share == pytest.approx(1 - within / (both.var(axis=0).sum() * len(both)), rel=1e-4)
    assert [side.side for side in shape.lengths] == ["query", "document"]
    assert len(shape.isotropy) == 2


def test_length_against_certainty_is_the_area_under_the_roc_curve(embedded):
    part = osp.measure(*embedded, sections=["modalities"]).modalities
    first, second = embedded[1].sides
    cosines = (first / np.linalg.norm(first, axis=1, keepdims=True)) @ (
        second / np.linalg.norm(second, axis=1, keepdims=True)
    ).T
    found = (np.argsort(-cosines, axis=1)[:, :10] == np.arange(COUNT)[:, None]).any(axis=1)
    assert part.found == found.mean()
    assert part.query_certainty.value == pytest.approx(roc_auc_score(found, np.linalg.norm(first, axis=1)))
    assert part.document_certainty.value == pytest.approx(roc_auc_score(found, np.linalg.norm(second, axis=1)))
    assert "pairs that are found have longer text vectors" in part.sentence
    assert [hub.scorer for hub in part.hubs] == ["cosine, images searched", "cosine, texts searched"]
    occurrences = np.bincount(np.argsort(-cosines.T, axis=1)[:, :10].ravel(), minlength=COUNT)
    assert part.hubs[1].worst[0].occurrences == occurrences.max()


def test_two_sides_of_one_kind_have_no_gap_and_nobody_hears_of_it():
    task = osp.PairTask("texts", np.arange(4.0), list("abcd"), list("efgh"))
    rows = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    assert "modalities" not in osp.measure(task, task.vectors(rows, rows)).skipped
    with pytest.raises(OffsphereError, match="texts on one side and images on the other"):
        osp.measure(task, task.vectors(rows, rows), ["modalities"])
