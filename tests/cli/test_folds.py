"""More folds than queries: as many as there are queries are made, and whoever asked for more hears of it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.cli.running import printed, run_here

QUERIES = 12
SAID = f"{QUERIES} queries make {QUERIES} folds, not 50"


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    folder = tmp_path_factory.mktemp("few")
    rng = np.random.default_rng(0)
    documents = rng.standard_normal((60, 6)).astype(np.float32)
    queries = documents[:QUERIES] + 0.5 * rng.standard_normal((QUERIES, 6))
    for name, rows, letter in (("queries", queries, "q"), ("documents", documents, "d")):
        np.save(folder / f"{name}.npy", rows.astype(np.float32))
        (folder / f"{name}.ids").write_text("".join(f"{letter}{row}\n" for row in range(len(rows))))
    rows = "".join(f"q{query}\td{query}\t1\n" for query in range(QUERIES))
    (folder / "qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")
    return folder


def one_line(text):
    return " ".join(text.split())


@pytest.mark.parametrize("command", [["compare"], ["threshold", "--recall", "0.5"]])
def test_the_command_says_how_many_folds_there_really_are(few, command):
    asked = [command[0], few, *command[1:], "--folds"]
    assert SAID in one_line(printed(*asked, 50))
    assert "folds, not" not in one_line(printed(*asked, QUERIES))
    values = json.loads(printed(*asked, 50, "--json"))
    assert SAID in values["notes"]
    most = json.loads(printed(*asked, QUERIES, "--json"))  # as many folds as queries are the same folds
    assert {**values, "notes": None} == {**most, "notes": None}


def test_a_page_says_how_many_folds_there_really_are(few, tmp_path):
    run_here("audit", few, "--folds", 50, "--out", tmp_path / "audit.html")
    page = (tmp_path / "audit.html").read_text()
    assert f"{SAID}." in page
    assert f"chosen by {QUERIES}-fold " in page
    run_here("audit", few, "--folds", 50, "--format", "json", "--out", tmp_path / "audit.json")
    values = json.loads((tmp_path / "audit.json").read_text())
    assert SAID in json.dumps(values)
    assert values["provenance"]["folds"] == QUERIES
