"""Scorers on disk: they come back as they were, and those that earlier versions wrote are read for ever."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load, save

from offsphere.base.errors import DataError, VectorError
from offsphere.ranking.hub_bias import nnn
from offsphere.ranking.search import search
from offsphere.scoring.document_bias import DocumentBias
from offsphere.scoring.names import parse_scorer
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import FAMILIES
from offsphere.scoring.standardize_queries import standardize_queries
from offsphere.scoring.transforms import TRANSFORMS, AffineMap, Center, Linear, Transform
from offsphere.vectors.moments import Moments
from tests.scoring.samples import vectors

NUMBERS = "scorer.safetensors"
SAVED = Path(__file__).parent / "saved"  # written by commit d86b6f1, before similarities and transforms had files


@pytest.mark.parametrize("name", sorted(folder.name for folder in SAVED.iterdir()))
def test_a_scorer_saved_before_is_read_and_written_as_it_was(name, tmp_path):
    """But for what format 2 adds: its number, and the digests of both files."""
    scorer = Scorer.load(SAVED / name)
    scorer.save(tmp_path)
    assert (tmp_path / NUMBERS).read_bytes() == (SAVED / name / NUMBERS).read_bytes()
    now, before = (json.loads((folder / "scorer.json").read_text()) for folder in (tmp_path, SAVED / name))
    assert now["files"] == {NUMBERS: before.pop("numbers")}
    assert {**before, "format": 2} == {key: value for key, value in now.items() if key not in ("files", "digest")}
    assert Scorer.load(tmp_path).key == scorer.key


@pytest.mark.parametrize("kind", [kind for kind, family in FAMILIES.items() if family.by_name])
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
    with pytest.raises(DataError, match="does not exist"):
        Scorer.load(tmp_path / "nowhere")
    numbers = tmp_path / "good" / NUMBERS
    numbers.write_bytes(numbers.read_bytes() + b"x")
    with pytest.raises(DataError, match="is not the file that"):
        Scorer.load(tmp_path / "good")
    (tmp_path / "good" / "scorer.json").write_text("{")
    with pytest.raises(DataError, match="not JSON"):
        Scorer.load(tmp_path / "good")


@pytest.mark.parametrize("changed", ["similarity", "format", "name", "files", "digest", "bias"])
def test_a_description_that_was_changed_is_damaged(changed, tmp_path):
    Scorer().save(tmp_path)
    description = json.loads((tmp_path / "scorer.json").read_text())
    other = {"similarity": {"family": "polar", "parameters": {"query": 1.0, "document": 0.5}}, "format": 1}
    description[changed] = other.get(changed, "other")
    (tmp_path / "scorer.json").write_text(json.dumps(description))
    with pytest.raises(DataError, match="is damaged: it does not say what its digest was made of"):
        Scorer.load(tmp_path)


def test_a_later_format_asks_for_a_later_offsphere(tmp_path):
    Scorer().save(tmp_path)
    text = (tmp_path / "scorer.json").read_text()
    (tmp_path / "scorer.json").write_text(text.replace('"format": 2', '"format": 3'))
    with pytest.raises(DataError, match="is of format 3, this version reads 2: update offsphere"):
        Scorer.load(tmp_path)


def old_files(folder, change):
    """A scorer as format 1 has it, without a digest of its description, with something changed in it."""
    description = json.loads((SAVED / "chain" / "scorer.json").read_text())
    numbers = load((SAVED / "chain" / NUMBERS).read_bytes())
    change(description, numbers)
    content = save(numbers)
    description["numbers"] = hashlib.sha256(content).hexdigest()
    (folder / NUMBERS).write_bytes(content)
    (folder / "scorer.json").write_text(json.dumps(description))
    return folder


def setting(*path_and_value):
    *path, last, value = path_and_value

    def change(description, numbers):
        for step in path:
            description = description[step]
        description[last] = value

    return change


def with_array(name, make):
    def change(description, numbers):
        numbers[name] = np.ascontiguousarray(make(numbers[name]))

    return change


def without_array(name):
    return lambda description, numbers: numbers.pop(name)


POWERS = ("similarity", "parameters")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (setting("map", ["map.0", 7]), "the map 7 is neither"),
        (setting("map", ["map.0", -1]), "the map -1 is neither"),
        (setting("map", ["map.0", True]), "the map True is neither"),
        (setting("map", ["map.0", 0]), "the map 0 is neither"),
        (setting("map", ["map.9", 1]), "array 'matrix' is missing"),
        (setting("map", ["map.0"]), "not all that the file holds"),
        (setting("map", ["map.0", 1, 1]), "not all that the file holds"),
        (setting("map", {"map.0": 1}), "which are none of its 2 transforms"),
        (setting("map", None), "which are none of its 2 transforms"),
        (setting(*POWERS, "document", 10**400), "is no number to compute with"),
        (setting(*POWERS, "document", float("nan")), "is no number to compute with"),
        (setting(*POWERS, "document", "0.5"), "is no number to compute with"),
        (setting(*POWERS, "document", [1]), "is no number to compute with"),
        (setting(*POWERS, "other", 1), "is truncated or not a saved scorer"),
        (setting("similarity", "family", "os.system"), "is truncated or not a saved scorer"),
        (setting("similarity", "polar"), "is truncated or not a saved scorer"),
        (setting("transforms", 0, "kind", "eval"), "is truncated or not a saved scorer"),
        (setting("transforms", 1, "label", 3), "which is no text"),
        (setting("bias", "nnn(0.5)"), "array 'bias' is missing"),
        (setting("extra", 1), "its field 'extra'"),
        (lambda description, numbers: description.pop("map"), "its field 'map'"),
        (without_array("map.0.shift"), "array 'shift' is missing"),
        (with_array("map.0.matrix", lambda matrix: matrix[:-1]), "a matrix of shape|takes . dimensions"),
        (with_array("map.0.matrix", lambda matrix: matrix * np.nan), "not finite"),
        (with_array("map.0.matrix", lambda matrix: matrix.astype(np.int64)), "expected numbers"),
        (with_array("transform.1.query.matrix", lambda matrix: matrix[:-1]), "takes . dimensions|has not as many"),
        (with_array("transform.1.query.input", lambda given: given[:0]), "of shape .0,."),
    ],
)
def test_numbers_of_a_file_are_checked_before_they_are_used(change, match, tmp_path):
    with pytest.raises(DataError, match=match) as caught:
        Scorer.load(old_files(tmp_path, change))
    assert "\n" not in str(caught.value)


def test_a_bias_that_is_no_number_is_refused_and_not_saved():
    with pytest.raises(VectorError, match="that of document 1 is nan"):
        DocumentBias("mine", np.array([0.0, np.nan]))
    with pytest.raises(VectorError, match="one finite number for each document"):
        DocumentBias("mine", np.ones((2, 2)))


def test_maps_that_do_not_fit_each_other_are_refused(tmp_path):
    def narrower(description, numbers):
        numbers["map.0.matrix"] = np.ascontiguousarray(np.eye(8)[:, :5])
        numbers["map.0.shift"] = np.zeros(5)

    with pytest.raises(DataError, match="dimensions, the one before it gives 5"):
        Scorer.load(old_files(tmp_path, narrower))
