"""Scorers on disk: they come back as they were, and those that earlier versions wrote are read for ever."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from offsphere.base.errors import DataError
from offsphere.ranking.hub_bias import nnn
from offsphere.ranking.search import search
from offsphere.scoring.names import parse_scorer
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import FAMILIES
from offsphere.scoring.standardize_queries import standardize_queries
from offsphere.scoring.transforms import TRANSFORMS, AffineMap, Center, Linear, Transform
from offsphere.vectors.moments import Moments
from tests.scoring.samples import vectors

SAVED = Path(__file__).parent / "saved"  # written by commit d86b6f1, before similarities and transforms had files


@pytest.mark.parametrize("name", sorted(folder.name for folder in SAVED.iterdir()))
def test_a_scorer_saved_before_is_read_and_written_byte_for_byte(name, tmp_path):
    scorer = Scorer.load(SAVED / name)
    scorer.save(tmp_path)
    for file in ("scorer.json", "scorer.safetensors"):
        assert (tmp_path / file).read_bytes() == (SAVED / name / file).read_bytes()
    assert scorer.name == json.loads((tmp_path / "scorer.json").read_text())["name"]


@pytest.mark.parametrize("kind", FAMILIES)
def test_every_similarity_is_made_again_from_what_it_says_of_itself(kind):
    similarity = FAMILIES[kind]()
    described = json.loads(json.dumps(similarity.config()))
    assert described["family"] == kind
    assert FAMILIES[kind].of(described, similarity.arrays()) == similarity


@pytest.mark.parametrize("kind", [kind for kind, transform in TRANSFORMS.items() if transform.by_name])
def test_every_transform_is_made_again_from_what_it_says_of_itself(kind):
    transform = TRANSFORMS[kind]()
    described = json.loads(json.dumps(transform.config()))
    assert described["kind"] == kind
    assert TRANSFORMS[kind].of(described, transform.arrays()) == transform


@dataclass(frozen=True)
class Doubled(Transform):
    """A user's transform that no file knows."""

    kind = "doubled"

    def fit(self, moments):
        return AffineMap(2 * np.ones_like(moments.mean), np.zeros_like(moments.mean))


def test_a_transform_of_ones_own_scores_but_is_not_saved(tmp_path):
    documents = vectors(0, 9)
    scorer = Scorer(transforms=(Center(), Doubled())).fit(Moments.of(documents))
    assert np.allclose(scorer.transform(documents), 2 * (documents - documents.mean(axis=0)), atol=1e-5)
    with pytest.raises(DataError, match="a Doubled cannot be saved: give it as a Linear map"):
        scorer.save(tmp_path)


def test_a_scorer_comes_back_from_disk_as_it_was(tmp_path):
    queries, documents = vectors(0, 5), vectors(1, 60)
    moments = Moments.of(documents)
    scorers = [
        parse_scorer("whiten(0.5) + polar(1, 0.75)").fit(moments),
        parse_scorer("center + drop-top(2) + norm-gap(3)").fit(moments),
        nnn(Scorer(), documents, queries),
        standardize_queries(Scorer(), documents),
        Scorer(transforms=(Linear(np.eye(8)[:, :3]),)).fit(moments),
    ]
    for number, scorer in enumerate(scorers):
        scorer.save(tmp_path / str(number))
        again = Scorer.load(tmp_path / str(number))
        assert again.name == scorer.name
        before, after = search(queries, documents, [scorer, again], 20)
        assert (before.documents == after.documents).all()
        assert (before.scores == after.scores).all()


def test_a_broken_file_is_named(tmp_path):
    Scorer().save(tmp_path / "good")
    with pytest.raises(DataError, match=r"no scorer in .*: scorer.json is missing"):
        Scorer.load(tmp_path)
    numbers = tmp_path / "good" / "scorer.safetensors"
    numbers.write_bytes(numbers.read_bytes() + b"x")
    with pytest.raises(DataError, match="is not the file that"):
        Scorer.load(tmp_path / "good")
    (tmp_path / "good" / "scorer.json").write_text("{")
    with pytest.raises(DataError, match="is not a saved scorer"):
        Scorer.load(tmp_path / "good")


def test_a_description_names_only_known_things(tmp_path):
    Scorer().save(tmp_path)
    description = json.loads((tmp_path / "scorer.json").read_text())
    description["similarity"] = {"family": "os.system", "parameters": {}}
    (tmp_path / "scorer.json").write_text(json.dumps(description))
    with pytest.raises(DataError, match="is not a saved scorer"):
        Scorer.load(tmp_path)
