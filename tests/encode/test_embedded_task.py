"""A task with its vectors in one call, from files or by a model."""

from __future__ import annotations

import json

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import DataError, OffsphereError
from offsphere.data.formats.beir import write_beir
from offsphere.encode.measure_input import load_measure_input, load_texts
from tests.generated import write_generated

MODEL = "callable:tests.encode.test_embedded_task:letters"


def letters(texts):
    """How often each of six letters stands in a text."""
    return np.array([[text.count(letter) for letter in "abcdef"] for text in texts], np.float32) + 0.5


@pytest.fixture
def data(tmp_path):
    rest = "and then ten more words to be long enough here"
    documents = [(f"d{d}", f"a title of {d} words", f"{'abc' * d} {'def' * (9 - d)} {rest}") for d in range(9)]
    queries = [(f"q{d}", "abc" * d) for d in range(9)]
    pairs = [(f"q{d}", f"d{d}") for d in range(9)]
    write_beir(tmp_path / "task", documents, queries, {"train": pairs[:5], "test": pairs[5:]}, "made")
    return tmp_path / "task"


def test_vectors_are_read_from_beside_the_data_or_from_where_they_are(tmp_path):
    write_generated(tmp_path)
    task, vectors = osp.load_embedded(tmp_path)
    assert (task.units, vectors.dimension) == (200, 64)
    beside = osp.EmbeddedSource(str(tmp_path / "qrels.tsv"))
    assert beside.folder_of(task) == tmp_path
    assert beside.made_by(task) == {}


def test_a_model_embeds_every_split_and_is_loaded_once(data, tmp_path):
    source = osp.EmbeddedSource(str(data), MODEL, tmp_path / "v")
    test, train = source.load(), source.load("train")
    assert [part[0].units for part in (test, train)] == [4, 5]
    assert source.encoder is source.encoder
    assert source.made_by(test[0])["model"] == MODEL
    again = osp.load_embedded(data, "train", vectors=tmp_path / "v")
    np.testing.assert_array_equal(again[1].sides[0], train[1].sides[0])


def test_known_items_are_embedded_beside_the_vectors_and_read_from_there(data, tmp_path):
    task, vectors = osp.EmbeddedSource(str(data), MODEL, tmp_path / "v").known_items()
    assert task.units == 9
    _, again = osp.EmbeddedSource(str(data), None, tmp_path / "v").known_items()
    np.testing.assert_array_equal(again.sides[0], vectors.sides[0])
    with pytest.raises(DataError, match="name the model"):
        osp.EmbeddedSource(str(data)).known_items()


def test_other_data_is_treated_as_the_data_is():
    wishes = {"ignore_missing": True, "verify": False, "ignore_broken": True, "reverse": True}
    source = osp.EmbeddedSource("data", "wordllama", "vectors", query_model=MODEL, **wishes)
    by_models, from_files = source.beside("more?seed=2"), source.beside("more?seed=2=folder")
    assert (by_models.model, by_models.query_model, by_models.vectors) == ("wordllama", MODEL, None)
    assert (from_files.model, from_files.query_model, str(from_files.vectors)) == (None, None, "folder")
    for beside in (by_models, from_files):
        assert beside.data == "more?seed=2"
        assert {name: getattr(beside, name) for name in wishes} == wishes


def test_other_data_of_links_gets_vectors_of_its_links():
    source = osp.task_source("ratings", "factorize(5)")
    assert type(source.beside("more")) is type(source)
    assert type(source.beside("more=folder")) is osp.EmbeddedSource


def test_vectors_alone_are_measured_without_a_task(data, tmp_path):
    np.save(tmp_path / "some.npy", np.eye(5, dtype=np.float32))
    source = osp.EmbeddedSource(str(tmp_path / "some.npy"))
    read = load_measure_input(source)
    assert (read.task, read.encoder) == (None, None)
    with pytest.raises(OffsphereError, match="leave --model out"):
        load_measure_input(osp.EmbeddedSource(source.data, MODEL))
    with pytest.raises(OffsphereError, match="give the task that has them"):
        load_texts(source.data)


def test_where_vectors_and_a_model_are_named_the_model_only_counts_tokens(data, tmp_path):
    osp.EmbeddedSource(str(data), MODEL, tmp_path / "v").load()
    manifest = tmp_path / "v" / "documents" / "manifest.json"
    before = manifest.stat().st_mtime_ns
    read = load_measure_input(osp.EmbeddedSource(str(data), MODEL, tmp_path / "v"))
    assert read.encoder.description.model == MODEL
    assert manifest.stat().st_mtime_ns == before
    assert json.loads(manifest.read_text())["rows"] == 9
