from __future__ import annotations

import pytest

from offsphere.base.errors import MissingExtraError, OffsphereError
from tests.cli.running import printed, run_here
from tests.runners.corpora import write_corpus, write_texts


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    source = write_corpus(tmp_path_factory.mktemp("shards") / "data", parts=2)
    return [source.data, "--vectors", source.vectors]


def test_shard_by_shard_prints_what_one_run_prints(typed, tmp_path):
    asked = ["compare", *typed, "--scorer", "dot", "--json"]
    assert printed(*asked, "--on", "local", "--shards", 3, "--states", tmp_path / "states") == printed(*asked)
    assert (tmp_path / "states" / "search-00003-of-00003.json").is_file()
    told = printed("measure", typed[2] / "documents", "--on", "local", "--section", "lengths", "--shards", 2)
    assert "lengths" in told


def test_an_embedded_task_is_compared_in_one_command(tmp_path):
    data = write_texts(tmp_path / "data", 60)
    out = printed("embed", data, "--out", tmp_path / "vectors", "--on", "local", "--shards", 2)
    assert f"{tmp_path / 'vectors/documents/00002-of-00002'}: 30 x 256 float32 by wordllama" in out
    asked = ["compare", data, "--scorer", "dot", "--json"]
    whole = printed(*asked, "--vectors", tmp_path / "vectors")
    assert (
        printed(*asked, "--model", "wordllama", "--vectors", tmp_path / "more", "--on", "local", "--shards", 3) == whole
    )


def test_an_audit_of_shards_advises_as_one_of_the_whole(typed, tmp_path):
    import json

    one, other = (
        json.loads(printed("audit", *typed, "--json", *more)) for more in ([], ["--on", "local", "--shards", 2])
    )
    assert one["comparison"] == other["comparison"]
    assert one["advice"] == other["advice"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--shards", "3"], "--shards goes with --on: say who works"),
        (["--on", "local", "--workers", "2"], "--workers is for workers of Ray"),
        (["--on", "spark"], "--on spark: choose local, ray, or the address"),
        (
            ["--on", "local", "--stored", "int8"],
            "--stored needs all documents at once: leave it out, or leave out --on",
        ),
        (["--on", "local", "--shard", "1/2", "--state", "x"], "--on needs all documents at once"),
        (["--on", "local", "--scorer", "nothing"], "unknown similarity"),
    ],
)
def test_what_does_not_go_together_is_told(typed, words, told):
    with pytest.raises(OffsphereError, match=told):
        run_here("compare", *typed, *words)


def test_without_ray_it_is_said_how_to_get_it(typed, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'offsphere\[ray\]'"):
        run_here("compare", *typed, "--on", "ray")
