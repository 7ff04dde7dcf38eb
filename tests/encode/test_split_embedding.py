from __future__ import annotations

import json

import numpy as np
import pytest

import offsphere as osp
from offsphere.data.load import splits_of
from tests.cli.running import run_here
from tests.processes import run_command

WORDS = ("lift", "drag", "wing", "flow", "heat", "shock", "layer", "flutter")


@pytest.fixture
def data(tmp_path):
    """A BEIR folder with three splits, each with queries of its own."""
    folder = tmp_path / "data"
    (folder / "qrels").mkdir(parents=True)
    texts = [f"{WORDS[row % 8]} {WORDS[row // 8]} number {row}" for row in range(60)]
    for name, letter in (("corpus", "d"), ("queries", "q")):
        lines = [json.dumps({"_id": f"{letter}{row}", "title": "", "text": text}) for row, text in enumerate(texts)]
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
    for split, rows in {"dev": range(10), "test": range(10, 25), "train": range(25, 60)}.items():
        (folder / "qrels" / f"{split}.tsv").write_text("\n".join(f"q{row}\td{row}\t1" for row in rows))
    return folder


def test_embed_embeds_the_queries_of_every_split(data, tmp_path):
    assert splits_of(data) == ["dev", "test", "train"]
    result = run_command("embed", data, "--out", tmp_path / "vectors")
    assert result.returncode == 0, result.stderr
    stores = {store.name: osp.open_store(store).ids for store in (tmp_path / "vectors").iterdir() if store.is_dir()}
    assert {name: len(ids) for name, ids in stores.items()} == {
        "queries": 15,
        "queries-dev": 10,
        "queries-train": 35,
        "documents": 60,
    }
    for split in ("dev", "test", "train"):
        task = osp.load_task(data, split)
        by_itself = osp.embed(task, "wordllama", tmp_path / f"alone-{split}")
        assert (osp.load_vectors(tmp_path / "vectors", task).queries == by_itself.queries).all()


def test_the_other_splits_report_how_far_they_are(data, tmp_path, monkeypatch):
    from contextlib import contextmanager

    from offsphere.cli import embed

    told = []

    @contextmanager
    def seen(label):
        yield lambda done, total, note="": told.append((label, done, total))

    monkeypatch.setattr(embed, "progress_bar", seen)
    run_here("embed", data, "--out", tmp_path / "vectors")
    assert {label for label, _, _ in told} == {"embedding", "embedding other splits"}
    assert {total for label, _, total in told if label == "embedding other splits"} == {10, 35}


@pytest.mark.slow
def test_adapt_learns_from_what_embed_embedded(data, tmp_path):
    pytest.importorskip("torch")
    run_command("embed", data, "--out", tmp_path / "vectors")
    result = run_command("adapt", data, "--vectors", tmp_path / "vectors", "--batch", "8", cwd=tmp_path)
    assert result.returncode == 0, result.stderr


def test_one_split_is_embedded_alone_where_it_is_named(data, tmp_path):
    run_command("embed", data, "--split", "test", "--out", tmp_path / "vectors")
    assert sorted(path.name for path in (tmp_path / "vectors").iterdir() if path.is_dir()) == ["documents", "queries"]


def test_a_missing_vector_is_told_with_the_command_that_makes_it(data, tmp_path):
    run_command("embed", data, "--split", "test", "--out", tmp_path / "vectors")
    told = run_command("compare", data, "--split", "train", "--vectors", tmp_path / "vectors")
    assert told.returncode == 2
    line = told.stderr.strip()
    assert "has no vector for query 'q25' (35 are missing): offsphere embed" in line
    command = line.partition("are missing): offsphere ")[2].split()
    assert run_command(*command).returncode == 0  # the cure, as it was printed
    again = run_command("compare", data, "--split", "train", "--vectors", tmp_path / "vectors", "--scorer", "dot")
    assert again.returncode == 0, again.stderr


def test_a_split_with_documents_of_its_own_is_left_out_with_a_warning(tmp_path):
    folder = tmp_path / "pairs"
    folder.mkdir()
    for split, start in (("test", 0), ("train", 50)):
        rows = [{"anchor": f"{WORDS[row % 8]} {row}", "positive": f"text {row}"} for row in range(start, start + 9)]
        (folder / f"{split}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    result = run_command("embed", folder, "--out", tmp_path / "vectors")
    assert result.returncode == 0, result.stderr
    assert "warning: the split train is left out: it has other documents than test" in result.stderr
    assert np.load(tmp_path / "vectors" / "documents" / "vectors.npy").shape[0] == 9
