from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import offsphere as osp
from offsphere.auditing.study import run_study
from offsphere.auditing.study.run_study import study
from offsphere.auditing.study.study_cell import cells_of, read_cells
from offsphere.base.errors import OffsphereError, ParameterError, UnknownNameError

WORDS = ("red", "blue", "wing", "flow", "heat", "tax", "king", "bread", "river", "stone")


def pairs_file(folder, name, rows=40, seed=0):
    rng = np.random.default_rng(seed)
    path = folder / f"{name}.csv"
    with path.open("w") as table:
        print("score,sentence1,sentence2", file=table)
        for _ in range(rows):
            first = rng.choice(WORDS, 4)
            kept = int(rng.integers(5))
            second = [*first[:kept], *rng.choice(WORDS, 4 - kept)]
            print(kept, " ".join(first), " ".join(second), sep=",", file=table)
    return str(path)


@pytest.fixture
def cells(tmp_path, monkeypatch):
    """Two small tasks under one static model, in a cache of their own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return cells_of([pairs_file(tmp_path, "first"), pairs_file(tmp_path, "second", seed=1)], ["wordllama"])


def page(audit):
    return f"<html>{audit.advice.name}</html>"


@pytest.mark.slow
def test_a_study_that_was_killed_goes_on_and_comes_out_the_same(cells, tmp_path, monkeypatch):
    whole = study(cells, tmp_path / "whole", to_page=page)
    real, done = run_study.audit, []

    def dies(*given, **more):
        if done:
            raise KeyboardInterrupt
        done.append(1)
        return real(*given, **more)

    monkeypatch.setattr(run_study, "audit", dies)
    with pytest.raises(KeyboardInterrupt):
        study(cells, tmp_path / "killed", to_page=page)
    monkeypatch.setattr(run_study, "audit", lambda *given, **more: done.append(2) or real(*given, **more))
    again = study(cells, tmp_path / "killed", to_page=page)
    assert done == [1, 2]  # the first cell was kept
    assert again.to_json() == whole.to_json()
    assert all((tmp_path / "killed" / row.page).read_text().startswith("<html>") for row in again.rows)


def test_what_is_known_is_not_audited_again_and_what_changed_is(cells, tmp_path, monkeypatch):
    first = study(cells, tmp_path / "study", to_page=page)
    monkeypatch.setattr(run_study, "audit", lambda *_, **__: pytest.fail("it was known"))
    assert study(cells, tmp_path / "study", to_page=page).to_json() == first.to_json()
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    pairs_file(tmp_path, "first", seed=9)
    changed = study(cells, tmp_path / "study", to_page=page)
    assert changed.rows[0].cosine != first.rows[0].cosine
    assert changed.rows[1].cosine == first.rows[1].cosine


def test_a_damaged_row_is_made_again(cells, tmp_path):
    first = study(cells[:1], tmp_path / "study")
    (kept,) = (tmp_path / "study" / "audits").glob("*.json")
    kept.write_text(kept.read_text().replace('"units": 40', '"units": 41'))
    assert study(cells[:1], tmp_path / "study").to_json() == first.to_json()


def test_a_cell_that_cannot_be_audited_is_named_and_the_others_are_there(cells, tmp_path):
    missing = cells_of([str(tmp_path / "nowhere")], ["wordllama"])
    made = study([*missing, *cells[:1]], tmp_path / "study")
    assert [row.task.rpartition("/")[2] for row in made.rows] == ["first"]
    assert list(made.failed) == ["nowhere x wordllama"]
    with pytest.raises(OffsphereError, match="nowhere"):
        study(missing, tmp_path / "study")


def test_a_file_says_what_there_is_to_study(tmp_path):
    pairs_file(tmp_path, "first")
    path = tmp_path / "study.toml"
    path.write_text(
        'model = ["wordllama", "other"]\n[[task]]\ndata = "first.csv"\nsymmetric = false\nname = "one"\n'
        '[[task]]\ndata = "first.csv"\nvectors = "stores/first"\n[[task]]\ndata = "first.csv"\n'
        'vectors = {wordllama = "stores/first"}\n[[task]]\ndata = "first.csv"\nmodel = "its own"\n'
        '[[task]]\ndata = "first.csv"\nmodel = ["third"]\nvectors = {"spectral(4)" = "stores/new"}\n'
    )
    found = read_cells(path)
    models = ["wordllama", "other", None, "wordllama", "other", "its own", "spectral(4)", "third"]
    assert [cell.model for cell in found] == models
    assert found[6].vectors == str(tmp_path / "stores" / "new")
    assert found[0].data == str(tmp_path / "first.csv")
    assert found[0].symmetric is False
    assert found[0].label == "one x wordllama"
    assert found[4].vectors is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "lists its tasks"),
        ('task = "x"', "lists its tasks"),
        ("[[task]]\nmodel = 'm'", "task 1: it needs data"),
        ("[[task]]\ndata = 'x'", "task 1: name models"),
        ("[[task]]\ndata = 'x'\nvectors = 3", "task 1: vectors = 3"),
        ("[[task]]\ndata = 'x'\nvectors = 'v'\nsymmetric = 'yes'", "task 1: symmetric = 'yes' is neither"),
        ("[[task]]\ndata = 'x'\nvectors = 'v'\nname = 3", "task 1: name = 3 is no text"),
        ("[[task]]\ndata = 'x'\nmodel = 3", r"task 1: model = \[3\]: give names of models"),
        ("[[task]]\ndata = 'x'\nmodel = 'm'\nvectors = 'v'", "task 1: vectors = 'v' are of no model"),
        ("model = [3]\n[[task]]\ndata = 'x'", r"model = \[3\]: give names of models"),
        ("[[task]]\ndata = 'x'\nvectors = 'v'\nVectors = 'w'", "two of data, vectors, Vectors are the same name"),
    ],
)
def test_a_file_that_says_something_else_is_refused_in_one_line(tmp_path, text, said):
    path = tmp_path / "study.toml"
    path.write_text(text)
    with pytest.raises(ParameterError, match=said):
        read_cells(path)


def test_a_key_of_another_case_is_the_same_key(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text("Model = 'wordllama'\n[[task]]\nData = 'x'\nIgnore-Missing = true")
    (cell,) = read_cells(path)
    assert (cell.data, cell.model, cell.ignore_missing) == ("x", "wordllama", True)


def test_a_key_that_is_spelt_wrong_is_noticed(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text("[[task]]\ndata = 'x'\nvectors = 'v'\nsymetric = true")
    with pytest.raises(UnknownNameError, match="did you mean symmetric"):
        read_cells(path)


def test_tasks_without_models_or_vectors_are_refused():
    with pytest.raises(ParameterError, match="name a model with --model"):
        cells_of(["cisi"], [])
    with pytest.raises(ParameterError, match="at least one task"):
        cells_of([], ["wordllama"])


@pytest.mark.slow
def test_cells_that_are_audited_beside_each_other_come_out_as_one_after_another(cells, tmp_path):
    alone = study(cells, tmp_path / "alone", to_page=page)
    beside = study(cells, tmp_path / "beside", jobs=2, to_page=page)
    assert beside.to_json() == alone.to_json()
    assert sorted(path.name for path in (tmp_path / "beside" / "audits").iterdir()) == sorted(
        path.name for path in (tmp_path / "alone" / "audits").iterdir()
    )


@pytest.mark.slow
def test_adapters_of_a_study_are_those_of_the_grid_that_learn_gives(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "pairs").mkdir()
    for seed, split in enumerate(("train", "test")):
        pairs_file(tmp_path / "pairs", split, seed=seed)
    (cell,) = cells_of([str(tmp_path / "pairs")], ["wordllama"], adapt=True)
    cell = replace(cell, split="test")
    (row,) = study([cell], tmp_path / "study").rows
    parts = osp.load_parts(cell.source, split="test")
    grid = [osp.Recipe(normalize=sides) for sides in ("both", "query", "document", "none")]
    table = osp.learn(parts.train, parts.test, grid).table
    assert {name: change["value"] for name, change in row.learned.items()} == {
        one.name: one.value for one in table.rows
    }
    assert len(row.learned) >= len(grid)


def test_the_page_links_every_audit_and_everything_is_json(cells, tmp_path):
    from offsphere.report.study_page import study_to_html

    made = study(cells, tmp_path / "study", to_page=page)
    text = study_to_html(made)
    for each in made.rows:
        assert f'<a href="{each.page}">{each.task}</a>' in text
    assert "spec-heat" in text
    json.dumps(made.to_json(), allow_nan=False)
