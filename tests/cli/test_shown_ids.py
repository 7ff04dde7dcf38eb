"""Ids, labels and names of files that a terminal would obey, or that hardly end: what is shown is tame and short."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from offsphere.answering.reader import FunctionReader
from offsphere.base.endpoint import EndpointFailedError
from offsphere.base.shown_ids import LONGEST_ID, shown_id
from tests.processes import PATIENCE, environment_with, run_command

RED = "\x1b[31m"
HUB, NOTHING = RED + "hub" + "x" * 10_000_000, "\x1b]0;title\x07" + "y" * 1_000_000
QUERIES, DOCUMENTS = 60, 200


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Documents of which one is near every query and one is nothing, with such ids, and groups with such labels."""
    folder = tmp_path_factory.mktemp("hostile")
    rng = np.random.default_rng(0)
    documents = rng.standard_normal((DOCUMENTS, 16)).astype(np.float32)
    documents[1] = 0
    queries = documents[2 : QUERIES + 2] + 0.3 * rng.standard_normal((QUERIES, 16)) + 2
    documents[0] = queries.mean(axis=0) * 3
    ids = [HUB, NOTHING, *(f"{RED}d{row}" for row in range(2, DOCUMENTS))]
    asking = [f"q{RED}{q}" for q in range(QUERIES)]
    for name, rows, names in (("documents", documents, ids), ("queries", queries, asking)):
        np.save(folder / f"{name}.npy", rows.astype(np.float32))
        (folder / f"{name}.ids").write_text("".join(f"{one}\n" for one in names))
    kinds = [f"{RED}{q % 2}{'z' * 999}" for q in range(QUERIES)]
    lines = [{"_id": name, "text": "what?", f"kind{RED}": kind} for name, kind in zip(asking, kinds, strict=True)]
    (folder / "queries.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    texts = "".join(json.dumps({"_id": name, "text": f"text {row}"}) + "\n" for row, name in enumerate(ids))
    (folder / "corpus.jsonl").write_text(texts)
    (folder / "qrels").mkdir()
    rows = "".join(f"{name}\t{ids[q + 2]}\t1\n" for q, name in enumerate(asking))
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")
    return folder


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (["measure", "--section", "hubness"], [r"\x1b[31mhubxxx", "(10,000,008 characters)"]),
        (["compare", "--by", f"kind{RED}"], [r"\x1b]0;title\x07yyy", "(1,000,027 characters)", r"by kind\x1b[31m"]),
        (["data", "info"], [r"\x1b[31m0zzz", r"groups by kind\x1b[31m"]),
    ],
    ids=lambda value: value[0] if value[0] != "data" else "info",
)
def test_what_commands_print_is_obeyed_by_no_terminal_and_has_an_end(hostile, typed, shown):
    place = 2 if typed[0] == "data" else 1
    result = run_command(*typed[:place], hostile, *typed[place:])
    assert result.returncode == 0, result.stderr[:2_000]
    said = result.stdout + result.stderr
    assert "\x1b" not in said
    assert "\x07" not in said
    assert len(said) < 20_000
    assert [words for words in shown if words not in said] == []


def test_a_page_shows_ids_and_has_an_end(hostile, tmp_path):
    result = run_command("audit", hostile, "--by", f"kind{RED}", "--out", tmp_path / "audit.html")
    assert result.returncode == 0, result.stderr[:2_000]
    assert "\x1b" not in result.stdout + result.stderr
    page = (tmp_path / "audit.html").read_text()
    assert "\x1b" not in page
    assert len(page) < 3_000_000
    assert r"\x1b[31mhubxxx" in page
    whole = run_command("measure", hostile, "--section", "hubness", "--json")
    hubs = json.loads(whole.stdout)["hubness"][0]["worst"]
    assert hubs[0]["id"] == HUB  # machines get what is there


def test_a_file_whose_name_is_no_text_is_named_with_escapes(tmp_path):
    np.save(tmp_path / "v.npy", np.ones((3, 2), np.float32))
    name = os.fsencode(tmp_path) + b"/st\xffre"
    command = [sys.executable, "-m", "offsphere", "data", "import", str(tmp_path / "v.npy"), name]
    result = subprocess.run(command, capture_output=True, timeout=PATIENCE, env=environment_with(), check=False)
    assert result.returncode == 0, result.stderr
    assert rb"st\udcffre: 3 x 2" in result.stdout


@pytest.mark.parametrize(
    "name", ["doc-1", "a b", "x" * LONGEST_ID, "é→💩", "../../etc", "https://example.org/page?id=7"]
)
def test_an_ordinary_id_is_shown_as_it_is(name):
    assert shown_id(name) == name


def test_what_an_endpoint_says_is_obeyed_by_no_terminal():
    def refuse(prompt):
        raise ValueError(f"{RED}no{'!' * 10_000}")

    with pytest.raises(EndpointFailedError) as caught:
        FunctionReader(refuse, f"call{RED}").answer("?")
    assert RED not in str(caught.value)
    assert len(str(caught.value)) < 2_500
