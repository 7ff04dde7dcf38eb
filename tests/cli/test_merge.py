from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from offsphere.base.errors import DataError, OffsphereError, ParameterError
from tests.cli.running import printed, run, run_here

SHARDS = 3


@pytest.fixture(scope="module")
def states(generated, tmp_path_factory):
    """What three shards leave, as a shell loop makes them."""
    folder = tmp_path_factory.mktemp("states")
    for number in range(1, SHARDS + 1):
        run_here("compare", generated, "--shard", f"{number}/{SHARDS}", "--state", folder / f"fit-{number}")
    run_here("merge", *(folder / f"fit-{number}" for number in (3, 1, 2)), "--state", folder / "fit")
    for number in range(1, SHARDS + 1):
        shard = ("--shard", f"{number}/{SHARDS}", "--fitted", folder / "fit.json")
        run_here("compare", generated, *shard, "--state", folder / f"part-{number}")
    return folder


def test_merge_prints_what_one_run_prints(generated, states):
    parts = [states / f"part-{number}.json" for number in (2, 3, 1)]
    assert printed("merge", *parts, "--json") == printed("compare", generated, "--json")
    assert printed("merge", *parts, "--all", "--verbose") == printed("compare", generated, "--all", "--verbose")


def test_states_merge_in_groups_and_leave_a_scorer(generated, states, tmp_path):
    told = printed("merge", states / "part-3", states / "part-1", "--state", tmp_path / "two")
    assert told == f"{tmp_path / 'two.json'}: 2 of 3 shards\n"
    printed("merge", tmp_path / "two", states / "part-2", "--save", tmp_path / "scorer")
    assert json.loads((tmp_path / "scorer" / "scorer.json").read_text())


def test_what_is_fitted_may_be_given_as_the_states_of_all_shards(generated, states, tmp_path):
    fits = [word for number in (1, 2, 3) for word in ("--fitted", states / f"fit-{number}")]
    run_here("compare", generated, "--shard", "2/3", *fits, "--state", tmp_path / "part-2")
    for ending in (".json", ".safetensors"):
        assert (tmp_path / f"part-2{ending}").read_bytes() == (states / f"part-2{ending}").read_bytes()


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (["--shard", "1/3"], "say where with --state FILE"),
        (["--state", "x"], "say which with --shard 1/7"),
        (["--shard", "1/3", "--state", "{out}/x", "--stored", "int8"], "--stored needs all documents at once"),
        (["--shard", "1/3", "--state", "{out}/x", "--more"], "--more needs all documents at once"),
        (["--shard", "1/3", "--state", "{out}/x", "--json"], "--json needs all documents at once"),
        (["--shard", "1/3", "--state", "{out}/x", "--fitted", "{states}/fit-1"], "2 of 3 shards are missing"),
        (["--shard", "1/3", "--state", "{out}/x", "--fitted", "{states}/part-1"], "no state of the first pass"),
        (["--shard", "1/3", "--state", "{out}/x", "--fitted", "{out}"], "is a folder|does not exist"),
        (["--shard", "1/4", "--state", "{out}/x", "--fitted", "{states}/fit"], "in 3 shards, this has 3,000 in 4"),
    ],
)
def test_what_does_not_go_with_a_shard_is_told(generated, states, tmp_path, typed, told):
    typed = [word.format(out=tmp_path, states=states) for word in typed]
    with pytest.raises(OffsphereError, match=told):
        run_here("compare", generated, *typed)
    assert not list(tmp_path.glob("x*"))


def test_the_wrong_states_are_one_line_and_exit_code_2(generated, states):
    result = run("merge", states / "fit-1", states / "part-1")
    assert (result.returncode, result.stdout) == (2, "")
    assert (
        result.stderr
        == f"offsphere: {states / 'part-1.json'} is a state of compare, {states / 'fit-1.json'} one of fit\n"
    )


def test_states_that_do_not_belong_together_are_refused(generated, states, tmp_path):
    with pytest.raises(DataError, match=r"part-1.json has shard 1/3, which is there already"):
        run_here("merge", states / "part-1", states / "part-2", states / "part-1")
    with pytest.raises(DataError, match=r"1 of 3 shards are missing \(3/3\)"):
        run_here("merge", states / "part-1", states / "part-2")
    with pytest.raises(OffsphereError, match="these states are of the first pass"):
        run_here("merge", states / "fit")
    shard = ("--shard", "3/3", "--fitted", states / "fit", "--seed", "9")
    run_here("compare", generated, *shard, "--state", tmp_path / "other")
    with pytest.raises(DataError, match=r"other.json is of another question: its seed is 9, that of the others 0"):
        run_here("merge", states / "part-1", tmp_path / "other")


def test_a_state_that_is_damaged_or_none_is_named(states, tmp_path):
    for name in ("part-1.json", "part-1.safetensors"):
        shutil.copy(states / name, tmp_path)
    content = bytearray((tmp_path / "part-1.safetensors").read_bytes())
    content[-3] ^= 1
    (tmp_path / "part-1.safetensors").write_bytes(content)
    with pytest.raises(DataError, match=r"part-1\.safetensors is not the file that .*part-1\.json describes"):
        run_here("merge", tmp_path / "part-1")
    (tmp_path / "part-1.safetensors").unlink()
    with pytest.raises(DataError, match=r"part-1\.safetensors does not exist"):
        run_here("merge", tmp_path / "part-1")
    (tmp_path / "none.json").write_text('{"kind": "scorer"}')
    with pytest.raises(DataError, match=r"none\.json is no state"):
        run_here("merge", tmp_path / "none")


def test_documents_that_changed_between_the_passes_are_named(generated, states, tmp_path):
    shutil.copytree(generated, tmp_path / "data")
    path = next((tmp_path / "data").glob("documents.npy"))
    rows = np.load(path)
    rows[-1] *= 2
    np.save(path, rows)
    with pytest.raises(DataError, match="the documents of shard 3/3 were changed since they were fitted"):
        run_here(
            "compare", tmp_path / "data", "--shard", "3/3", "--fitted", states / "fit", "--state", tmp_path / "state"
        )


def test_embedded_shards_are_one_corpus(tmp_path, real_data):
    data = tmp_path / "data"
    (data / "qrels").mkdir(parents=True)
    lines = (real_data / "scifact" / "corpus.jsonl").read_text().splitlines()[:50]
    names = [json.loads(line)["_id"] for line in lines]
    (data / "corpus.jsonl").write_text("\n".join(lines))
    (data / "queries.jsonl").write_text('{"_id": "q1", "text": "cells"}\n{"_id": "q2", "text": "mice"}\n')
    (data / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\nq1\t{names[3]}\t1\nq2\t{names[40]}\t1\n")
    run_here("embed", data, "--out", tmp_path / "whole")
    for number in (1, 2, 3):
        told = printed("embed", data, "--out", tmp_path / "parts", "--shard", f"{number}/3")
        assert f"documents/0000{number}-of-00003: 1" in told
    again = printed("embed", data, "--out", tmp_path / "parts", "--shard", "2/3")
    assert "00002-of-00003: 17 x 256" in again
    assert printed("compare", data, "--vectors", tmp_path / "parts", "--json") == printed(
        "compare", data, "--vectors", tmp_path / "whole", "--json"
    )
    with pytest.raises(DataError, match="documents holds parts"):
        run_here("embed", data, "--out", tmp_path / "parts")
    with pytest.raises(DataError, match="documents holds the vectors of all documents"):
        run_here("embed", data, "--out", tmp_path / "whole", "--shard", "1/3")
    with pytest.raises(ParameterError, match="51 shards of 50 documents"):
        run_here("embed", data, "--out", tmp_path / "more", "--shard", "1/51")
    shutil.rmtree(tmp_path / "parts" / "documents" / "00002-of-00003")
    with pytest.raises(DataError, match="lacks the part 00002-of-00003"):
        run_here("compare", data, "--vectors", tmp_path / "parts")
