"""A scorer's key: equal for equal scorers wherever they are, different as soon as anything that scores differs."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import offsphere as osp
from offsphere.scoring.names import read_scorer
from offsphere.scoring.transforms import maps
from offsphere.scoring.transforms.adapter_map import MagnitudeHead, SideAdapter
from offsphere.scoring.value_key import value_key
from tests.processes import PATIENCE


def corpus(seed=0, rows=60):
    return (np.random.default_rng(seed).standard_normal((rows, 8)) + 0.5).astype(np.float32)


def adapter(seed=0):
    rng = np.random.default_rng(seed)
    head = MagnitudeHead(rng.standard_normal(8), 0.1, 0.2, 1.0, "added")
    return osp.Adapter(SideAdapter(rng.standard_normal((8, 8))), SideAdapter(None, 0.5, head), osp.Polar(0, 0), "tied")


def scorers(seed=0):
    """One scorer of every kind, made from the documents of a seed."""
    documents = corpus(seed)
    moments = osp.Moments.of(documents)
    white = osp.parse_scorer("whiten(0.5) + cosine").fit(moments)
    return {
        "plain": osp.parse_scorer("polar(1, 0.75)"),
        "unfitted": osp.parse_scorer("whiten(0.5) + cosine"),
        "fitted": white,
        "chain": osp.parse_scorer("center + drop-top(2) + norm-gap(3)").fit(moments),
        "linear": osp.Scorer(transforms=(osp.Linear(np.eye(8)[:, :3]),)).fit(moments),
        "adapter": adapter().scorer,
        "chain with adapter": osp.Scorer(osp.Polar(1, 1), (osp.Center(), adapter())).fit(moments),
        "bias": osp.nnn(white, documents, corpus(9)),
        "standardised": osp.standardize_queries(osp.Scorer(), documents),
    }


NAMES = list(scorers())
ON_DOCUMENTS = [name for name in NAMES if name not in ("plain", "unfitted", "linear", "adapter")]


@pytest.mark.parametrize("name", NAMES)
def test_equal_scorers_have_one_key_and_others_have_others(name):
    first, again = scorers(), scorers()
    assert first[name] is not again[name]
    assert first[name].key == again[name].key
    assert sum(first[name].key == scorer.key for scorer in first.values()) == 1


@pytest.mark.parametrize("name", ON_DOCUMENTS)
def test_scorers_of_different_corpora_have_different_keys(name):
    here, there = scorers(0)[name], scorers(1)[name]
    assert here.name == there.name
    assert here.key != there.key


@pytest.mark.parametrize("name", NAMES)
def test_a_scorer_keeps_its_key_on_disk(name, tmp_path):
    scorer = scorers()[name]
    scorer.save(tmp_path)
    assert osp.Scorer.load(tmp_path).key == scorer.key
    assert read_scorer(str(tmp_path)).key == scorer.key


def test_a_scorer_has_the_same_key_in_another_process(tmp_path):
    """Made there from the same documents, and loaded there from the files written here."""
    here = scorers()
    for number, scorer in enumerate(here.values()):
        scorer.save(tmp_path / str(number))
    code = (
        "import sys, offsphere as osp; from tests.scoring.test_value_key import scorers\n"
        "for number, scorer in enumerate(scorers().values()):\n"
        "    print(scorer.key, osp.Scorer.load(f'{sys.argv[1]}/{number}').key)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"PYTHONHASHSEED": "7"},
        check=True,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert run.stdout.split() == [scorer.key for scorer in here.values() for _ in range(2)]


def test_a_key_tells_given_numbers_apart():
    moments = osp.Moments.of(corpus())
    linear = [osp.Scorer(transforms=(osp.Linear(scale * np.eye(8)),)).fit(moments) for scale in (1.0, 2.0)]
    assert linear[0].name == linear[1].name
    assert linear[0].key != linear[1].key
    assert adapter(0).scorer.key != adapter(1).scorer.key
    biased = osp.nnn(osp.Scorer(), corpus(), corpus(9), alpha=0.5)
    moved = replace(biased, bias=replace(biased.bias, values=biased.bias.values + 1e-12))
    assert biased.key != moved.key


def test_a_number_is_the_same_however_it_is_written():
    assert osp.Scorer(osp.Polar(1, 0)).key == osp.Scorer(osp.Polar(1.0, 0.0)).key
    assert osp.Whiten(1).key == osp.Whiten(1.0).key != osp.Whiten(1, epsilon=0.1).key
    assert value_key({"a": 1, "b": [2]}) == value_key({"b": [2.0], "a": 1.0})
    assert value_key({"a": True}) != value_key({"a": 1})


def test_arrays_of_another_shape_or_type_are_others():
    array = np.arange(4.0)
    assert value_key("x", {"a": array}) == value_key("x", {"a": array.copy()})
    assert value_key("x", {"a": array}) != value_key("x", {"a": array.reshape(2, 2)})
    assert value_key("x", {"a": array}) != value_key("x", {"a": array.view(np.int64)})
    assert value_key("x", {"a": array}) != value_key("x", {"b": array})
    assert value_key("x", {"a": np.asfortranarray(array.reshape(2, 2))}) == value_key("x", {"a": array.reshape(2, 2)})


def test_a_maps_numbers_are_read_once(monkeypatch):
    """However many scorers share the map, however many blocks are searched."""
    read = []
    monkeypatch.setattr(maps, "value_key", lambda *parts: read.append(parts) or value_key(*parts))
    documents = corpus(rows=5_000)
    base = osp.parse_scorer("whiten(0.5) + cosine").fit(osp.Moments.of(documents))
    several = [replace(base, similarity=osp.Polar(1, exponent)) for exponent in (0.0, 0.5, 1.0)]
    osp.search(documents[:50], documents, several, k=5, block_rows=1024)
    assert len({scorer.key for scorer in several}) == 3
    assert len(read) == 1
