"""Neighbours, probe and zero-shot tell the classes that scikit-learn tells on the same vectors."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image as Pillow
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize
from typer.testing import CliRunner

import offsphere as osp
from offsphere.base.errors import DataError, ParameterError
from offsphere.cli import app
from offsphere.data.labelled import LabelledItems
from offsphere.encode.embedded_labels import EmbeddedLabels
from tests.tiny_vision import save_clip

RANDOM = np.random.default_rng(0)
CENTRES = RANDOM.normal(size=(4, 6))


def labelled(count):
    labels = RANDOM.integers(0, 4, count)
    scale = np.exp(RANDOM.normal(0, 0.5, (count, 1)))
    rows = (CENTRES[labels] + RANDOM.normal(0, 1.3, (count, 6))) * scale
    return LabelledItems("four", list(map(str, range(count))), ["x"] * count, labels, list("abcd")), rows.astype(
        np.float32
    )


@pytest.fixture(scope="module")
def parts():
    (train, train_rows), (test, test_rows) = labelled(200), labelled(120)
    return EmbeddedLabels(train, test, train_rows, test_rows, RANDOM.normal(size=(4, 2, 6)).astype(np.float32))


def right(result, method, vectors):
    return next(row.right for row in result.rows if (row.method, row.vectors) == (method, vectors))


def test_neighbours_vote_as_in_scikit_learn(parts):
    peer = KNeighborsClassifier(7, metric="cosine").fit(parts.train_vectors, parts.train.labels)
    told = peer.predict(parts.test_vectors) == parts.test.labels
    np.testing.assert_array_equal(right(osp.classify(parts, neighbours=7), "7 nearest neighbours", "cosine"), told)


def test_the_probe_is_the_logistic_regression_of_scikit_learn(parts):
    result = osp.classify(parts)
    for form, change in (("as they are", lambda rows: rows), ("directions", normalize)):
        train, test = (change(rows.astype(np.float64)) for rows in (parts.train_vectors, parts.test_vectors))
        probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1_000)).fit(train, parts.train.labels)
        told = probe.predict(test) == parts.test.labels
        np.testing.assert_array_equal(right(result, "linear probe", form), told)


def test_zero_shot_is_the_nearest_mean_of_prompts(parts):
    from sklearn.metrics.pairwise import cosine_similarity

    means = np.stack([normalize(prompts).mean(axis=0) for prompts in parts.class_vectors.astype(np.float64)])
    told = cosine_similarity(parts.test_vectors, means).argmax(axis=1) == parts.test.labels
    np.testing.assert_array_equal(right(osp.classify(parts), "zero-shot", "cosine"), told)
    by_dot = (parts.test_vectors @ parts.class_vectors.mean(axis=1).T).argmax(axis=1) == parts.test.labels
    np.testing.assert_array_equal(right(osp.classify(parts), "zero-shot", "dot"), by_dot)


def test_the_interval_is_wilsons(parts):
    row = osp.classify(parts).rows[0]
    n, p, z = len(row.right), row.right.mean(), 1.959963984540054
    middle, half = (
        (p + z * z / 2 / n) / (1 + z * z / n),
        z * np.sqrt(p * (1 - p) / n + z * z / 4 / n / n) / (1 + z * z / n),
    )
    assert (row.accuracy.low, row.accuracy.high) == pytest.approx((middle - half, middle + half))


def test_what_cannot_be_told_is_said(parts):
    with pytest.raises(ParameterError, match="neighbours = 201: there are 200 items"):
        osp.classify(parts, neighbours=201)
    one = LabelledItems("one", ["a"], ["x"], np.array([0]), ["a"])
    with pytest.raises(ParameterError, match="items of one class alone"):
        osp.classify(EmbeddedLabels(one, one, parts.train_vectors[:1], parts.test_vectors[:1]), neighbours=1)


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    pytest.importorskip("sentence_transformers")
    return save_clip(tmp_path_factory.mktemp("clip"))


def test_a_folder_of_classes_from_the_command_line(clip, tmp_path):
    for name, colour in (("red_thing", (250, 20, 20)), ("blue_thing", (20, 20, 250))):
        (tmp_path / "things" / name).mkdir(parents=True)
        for number in range(10):
            tint = tuple(int(part * (0.6 + number / 30)) for part in colour)
            Pillow.new("RGB", (20, 20), tint).save(tmp_path / "things" / name / f"{number}.png")
    (tmp_path / "things" / "red_thing" / "broken.png").write_text("")
    command = [
        "classify",
        str(tmp_path / "things"),
        "--model",
        str(clip),
        "--out",
        str(tmp_path / "v"),
        "--neighbours",
        "3",
    ]
    refused = CliRunner().invoke(app, command)
    assert isinstance(refused.exception, DataError)
    done = CliRunner().invoke(app, [*command, "--ignore-broken", "--json"])
    assert "1 pictures cannot be read and are left out: red_thing/broken.png" in done.stderr
    content = json.loads(done.stdout)
    assert (content["learned"], content["judged"], len(content["rows"])) == (14, 6, 6)
    assert content["rows"][0]["accuracy"]["value"] == 1.0
    names = tmp_path / "names.txt"
    names.write_text("red\n")
    lacking = CliRunner().invoke(app, [*command, "--ignore-broken", "--names", str(names)])
    assert "has 2 classes, and 1 names are given" in str(lacking.exception)
    template = CliRunner().invoke(app, [*command, "--template", "a photo"])
    assert "has no {} for the name" in str(template.exception)
