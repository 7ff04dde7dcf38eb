"""What is said is what is saved: nine queries by whose numbers the dot product wins, too few to say so."""

from __future__ import annotations

import json

import numpy as np
import pytest

import offsphere as osp
from offsphere.comparison.choice import choose
from tests.cli.running import printed, run_here

QUERIES, DOCUMENTS, RELEVANT = 9, 400, 5


@pytest.fixture(scope="module")
def handful(tmp_path_factory):
    """A task of nine queries whose relevant documents are the first by the dot product."""
    folder = tmp_path_factory.mktemp("handful")
    rng = np.random.default_rng(0)
    documents = rng.normal(size=(DOCUMENTS, 16)) * np.exp(rng.normal(0, 0.6, (DOCUMENTS, 1)))
    queries = rng.normal(size=(QUERIES, 16))
    wanted = np.argsort(-(queries @ documents.T), axis=1)[:, :RELEVANT]
    for name, rows in (("queries", queries), ("documents", documents)):
        np.save(folder / f"{name}.npy", rows.astype(np.float32))
        (folder / f"{name}.ids").write_text("".join(f"{name[0]}{row}\n" for row in range(len(rows))))
    lines = [f"q{query}\td{document}\t1\n" for query, row in enumerate(wanted) for document in row]
    (folder / "qrels.tsv").write_text("".join(["query-id\tcorpus-id\tscore\n", *lines]))
    return folder


@pytest.fixture(scope="module")
def states(handful, tmp_path_factory):
    """What two shards of it leave."""
    folder = tmp_path_factory.mktemp("states")
    for number in (1, 2):
        run_here("compare", handful, "--shard", f"{number}/2", "--state", folder / f"fit-{number}")
    fitted = [word for number in (1, 2) for word in ("--fitted", folder / f"fit-{number}")]
    for number in (1, 2):
        run_here("compare", handful, "--shard", f"{number}/2", *fitted, "--state", folder / f"part-{number}")
    return [folder / f"part-{number}" for number in (1, 2)]


def test_the_numbers_alone_would_choose_another_scorer_than_the_verdict(handful):
    table = osp.compare(*osp.load_embedded(handful))
    assert choose(table).name != "cosine"
    assert table.conclusion.startswith("Keep cosine: ")


@pytest.mark.parametrize("command", ["compare", "merge"])
def test_the_scorer_of_the_verdict_is_saved(command, handful, states, tmp_path):
    asked = (handful,) if command == "compare" else states
    shown = printed(command, *asked, "--save", tmp_path / "scorer")
    assert "Keep cosine." in shown
    assert "9 queries are too few" in " ".join(shown.split())
    assert "the p of the verdict is of the choice" not in shown
    assert osp.Scorer.load(tmp_path / "scorer").name == "cosine"
    assert json.loads(printed(command, *asked, "--json"))["conclusion"].startswith("Keep cosine: ")
