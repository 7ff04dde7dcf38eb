from __future__ import annotations

import json

import pytest

from offsphere.base.errors import ParameterError
from tests.auditing.study.test_run_study import pairs_file
from tests.cli.running import printed, run_here


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_study_prints_its_tables_and_writes_a_page_that_links_the_audits(tmp_path):
    tasks = [pairs_file(tmp_path, name, seed=seed) for seed, name in enumerate(("first", "second"))]
    text = printed("study", *tasks, "--model", "wordllama", "--out", tmp_path / "study")
    assert "Two tasks are too few to say anything of others" in text.replace("\n  ", " ")
    page = (tmp_path / "study" / "study.html").read_text()
    values = json.loads(printed("study", *tasks, "--model", "wordllama", "--out", tmp_path / "study", "--json"))
    assert values == json.loads((tmp_path / "study" / "study.json").read_text())
    for row in values["rows"]:
        assert f'href="{row["page"]}"' in page
        assert (tmp_path / "study" / row["page"]).read_text().startswith("<!doctype html>")


def test_what_cannot_be_meant_is_one_line(tmp_path):
    (tmp_path / "study.toml").write_text("[[task]]\ndata = 'x'\nvectors = 'v'")
    with pytest.raises(ParameterError, match="says itself which models"):
        run_here("study", tmp_path / "study.toml", "--model", "wordllama")
    with pytest.raises(ParameterError, match="name a model with --model"):
        run_here("study", "cisi")
