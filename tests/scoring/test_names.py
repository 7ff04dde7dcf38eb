"""Names of scorers: what is printed can be typed, and what cannot be read is told with its cure."""

from __future__ import annotations

import numpy as np
import pytest

from offsphere.base.errors import OffsphereError
from offsphere.scoring.adapter import Adapter
from offsphere.scoring.names import parse_scorer, read_scorer
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import FAMILIES, NormMix, Polar, RadialConfidence
from offsphere.scoring.training_record import Run, Training
from offsphere.scoring.transforms import TRANSFORMS, DropTop, Whiten
from offsphere.scoring.transforms.adapter_map import SideAdapter


@pytest.mark.parametrize("value", [1e6, 1e16, 1 / 3, 0.9999999, 1e-9])
def test_names_are_read_back_as_what_they_name(value):
    for similarity in (Polar(1, value), RadialConfidence(value), NormMix(min(value, 1))):
        assert parse_scorer(similarity.name).similarity == similarity
    scorer = Scorer(transforms=(Whiten(0.5, epsilon=value), Whiten(1, 3), DropTop(2)))
    assert parse_scorer(scorer.name).transforms == scorer.transforms


@pytest.mark.parametrize(
    ("text", "transform"),
    [
        ("whiten", Whiten()),
        ("whiten(0.5, 3)", Whiten(0.5, 3)),
        ("whiten(0.5, 0, 0.1)", Whiten(0.5, None, 0.1)),
        ("drop-top", DropTop()),
        ("drop-top(0)", DropTop(0)),
    ],
)
def test_a_transform_reads_its_own_numbers(text, transform):
    assert parse_scorer(f"{text} + dot").transforms == (transform,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "zzzz",
            "known: cosine, dot, query-normalized, document-normalized, half, polar, euclidean, angular, norm-mix",
        ),
        ("zzzz + cosine", "known: center, project-mean, temper, layer-norm, standardize, whiten, drop-top"),
        ("linear + cosine", "unknown transform 'linear'"),
        ("center", r"center is a transform: write 'center \+ cosine'"),
        ("cosine(1)", "cosine takes no parameters"),
        ("norm-mix", r"norm-mix needs its parameters: write norm-mix\(alpha\)"),
        ("euclidean(2)", "euclidean does not take 1 parameters"),
        ("drop-top(1, 2) + dot", "drop-top does not take 2 parameters"),
        ("drop-top(1.5) + dot", "k = 1.5 is not a number of directions"),
        ("whiten(1, 2.5) + dot", "components = 2.5 is not a positive number"),
        ("polar(x)", "parameters are numbers"),
        ("a b", "unknown similarity 'a b'"),
        ("cosine + nnn(0.5)", "use offsphere.nnn"),
    ],
)
def test_what_is_no_name_is_told_with_its_cure(text, message):
    with pytest.raises(OffsphereError, match=message):
        parse_scorer(text)


def test_a_scorer_is_read_by_its_name_or_by_its_folder(tmp_path):
    parse_scorer("polar(1, 0.75)").save(tmp_path / "plain")
    assert read_scorer(str(tmp_path / "plain")).key == read_scorer("polar(1, 0.75)").key == Scorer(Polar(1, 0.75)).key
    with pytest.raises(OffsphereError, match="is no folder with a saved scorer"):
        read_scorer(str(tmp_path / "nowhere"))


def test_a_learned_scorer_is_read_with_the_record_of_its_training(tmp_path):
    run = Run(0, 0.1, 0.2, best_step=1, steps=2, seconds=0.5, history=[(1, 0.3, 0.2)], stopped="all steps done")
    record = Training({}, {}, "ndcg@10", {}, runs=[run], chosen=0, learned=np.array([7, 9]))
    adapter = Adapter(SideAdapter(np.eye(2)), SideAdapter(), record=record)
    adapter.save(tmp_path)
    (transform,) = read_scorer(str(tmp_path)).transforms
    assert transform.record.learned.tolist() == [7, 9]
    assert read_scorer(str(tmp_path)).key == adapter.scorer.key


SEVERAL = {"polar": [(1, 1), (0, 0), (1, 0.75), (1, 1.5)], "whiten": [(0.25,), (0.5,), (1.0,)]}  # phrases by numbers


def test_every_registered_part_has_a_phrase_of_its_own():
    """Not the fallback, "use NAME", which explains a name by itself; and no two parts have one phrase."""
    phrases = {}
    for kind, part in (*FAMILIES.items(), *TRANSFORMS.items()):
        assert "phrase" in vars(part), kind
        told = vars(part)["phrase"]
        for phrase in (
            [told] if isinstance(told, str) else [part.of_numbers(numbers).phrase for numbers in SEVERAL[kind]]
        ):
            assert not phrase.startswith("use ")
            assert phrase[0].islower()
            assert not phrase.endswith(".")
            assert phrases.setdefault(phrase, kind) == kind
    assert len(phrases) > len(FAMILIES) + len(TRANSFORMS)
