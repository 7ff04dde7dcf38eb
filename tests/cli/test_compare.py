from __future__ import annotations

import json
import os

import numpy as np
import pytest

from tests.cli.running import run


def test_what_to_do_comes_first_and_the_table_below_it(generated):
    result = run("compare", generated, "--verbose")
    assert result.returncode == 0
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0].endswith(": 200 queries, 3,000 documents")
    assert lines[2].startswith("Use ")
    assert lines[2].endswith(".")
    heads = next(number for number, line in enumerate(lines) if line.startswith("scorer "))
    assert heads > 3
    assert "- cosine ranks as document-normalized, angular" in lines
    assert "- dot: let both vector lengths count in full" in lines
    assert any(": chosen in " in line for line in lines)


@pytest.mark.parametrize("columns", ["60", "80", "200"])
def test_sentences_fit_80_columns_and_tables_100(generated, columns):
    result = run("compare", generated, "--all", "--verbose", env={**os.environ, "COLUMNS": columns})
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 100
    start = next(number for number, line in enumerate(lines) if "95 % interval" in line)
    end = next(number for number, line in enumerate(lines) if line.startswith("* tuned"))
    told = [*lines[:start], *lines[end:]]
    assert max(map(len, told)) <= min(80, int(columns))


def test_heads_say_what_a_column_holds_and_no_number_is_cut(generated):
    result = run("compare", generated, "--json")
    printed = run("compare", generated, "--all").stdout
    assert "from cosine" in printed
    assert "of difference" in printed
    assert "\u2026" not in printed
    words = printed.split()
    for row in json.loads(result.stdout)["scorers"]:
        assert f"{row['value']:.4f}" in words


def test_json_is_json_and_nothing_else(generated):
    result = run("compare", generated, "--vectors", generated, "--json", "--metric", "recall@20", "--scorer", "dot")
    values = json.loads(result.stdout)
    assert values["metric"] == "recall@20"
    assert (values["task"]["queries"], values["task"]["documents"]) == (200, 3000)
    assert [row["name"] for row in values["scorers"]] == sorted(
        ["cosine", "dot"], key=lambda name: -next(row["value"] for row in values["scorers"] if row["name"] == name)
    )
    keys = {"name", "same_ranking_as", "value", "low", "high", "difference", "p", "parameters"}
    assert all(keys <= set(row) for row in values["scorers"])


def test_the_smallest_gain_that_matters_can_be_said(generated):
    result = run("compare", generated, "--json", "--scorer", "dot", "--worth", "0.9")
    values = json.loads(result.stdout)
    assert values["worth"] == 0.9
    assert values["most_to_gain"] < 0.9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metric", "ndgc@10"], "unknown metric 'ndgc@10': did you mean ndcg@10"),
        (["--scorer", "cosin"], "unknown similarity 'cosin': did you mean cosine"),
        (["--scorer", "whitten(0.5) + cosine"], "unknown transform 'whitten': did you mean whiten"),
        (["--scorer", "polar(1"], "cannot read 'polar(1'"),
        (["--scorer", "norm-mix(7)"], "norm-mix: alpha = 7"),
        (["--scorer", "cosine(1, 2)"], "cosine takes no parameters: write polar(query, document)"),
        (["--split", "dev"], "has no split 'dev'"),
        (["--vectors", "nowhere"], "nowhere is not a folder of vectors"),
        (["--folds", "1"], "needs at least 2"),
        (["--worth", "0"], "worth = 0.0: the smallest gain that matters is above 0"),
        (["--scorer", "whiten(0.5, 1.5) + cosine"], "components = 1.5 is not a positive number"),
        (["--scorer", "drop-top"], "drop-top is a transform: write 'drop-top + cosine'"),
        (["--scorer", "polar"], "polar needs its parameters: write polar(query, document) with numbers"),
        (["--scorer", "cosine + csls"], "csls is not made from its name but from a bank of queries"),
        (["--scorer", "drop-top(nan) + cosine"], "k = nan is not a number of directions"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(generated, arguments, message):
    result = run("compare", generated, *arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_missing_folder_is_one_line(tmp_path):
    result = run("compare", tmp_path / "nowhere")
    assert result.returncode == 2
    assert "does not exist" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_unknown_documents_stop_the_command_unless_ignored(generated, tmp_path):
    for name in ("queries.npy", "documents.npy", "queries.ids", "documents.ids", "qrels.tsv"):
        (tmp_path / name).write_bytes((generated / name).read_bytes())
    with (tmp_path / "qrels.tsv").open("a") as stream:
        stream.write("q0\tnobody\t1\nq1\tnobody\t1\n")
    result = run("compare", tmp_path, "--scorer", "dot")
    assert result.returncode == 2
    assert "qrels.tsv:1002: judgment for unknown document 'nobody' (2 such in all)" in result.stderr
    result = run("compare", tmp_path, "--scorer", "dot", "--ignore-missing")
    assert result.returncode == 0
    assert "warning: 2 judgments are for unknown queries or documents" in result.stderr


def test_empty_vectors_are_a_warning(generated, tmp_path):
    for name in ("queries.npy", "queries.ids", "documents.ids", "qrels.tsv"):
        (tmp_path / name).write_bytes((generated / name).read_bytes())
    documents = np.load(generated / "documents.npy")
    documents[[5, 77]] = 0
    np.save(tmp_path / "documents.npy", documents)
    result = run("compare", tmp_path, "--scorer", "dot")
    assert result.returncode == 0
    assert "warning: 2 vectors have length zero" in result.stderr
    assert "document 'd5', document 'd77'" in result.stderr


def test_a_place_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_text("in the way")
    result = run("data", "docstrings", "--package", "json", "--package", "email", "--out", tmp_path / "file" / "task")
    assert result.returncode == 2
    assert "cannot write" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_what_storing_costs_is_printed_below_and_in_the_json(generated):
    asked = ("compare", generated, "--scorer", "dot", "--stored", "int8,binary,dim=4")
    printed = run(*asked)
    assert printed.returncode == 0
    assert printed.stderr == ""
    assert "What storing costs:" in printed.stdout
    assert "- int8: a byte a number" in printed.stdout
    lines = printed.stdout.splitlines()
    assert max(map(len, lines)) <= 100
    rows = json.loads(run(*asked, "--json").stdout)["stored"]
    assert {row["stored_as"] for row in rows} >= {"int8", "binary+hamming", "binary+rerank=4", "dim=4", "dim=4+sliced"}
    keys = {"scorer", "value", "change", "change_low", "change_high", "change_p", "vector_bytes", "whole_bytes", "p"}
    assert all(keys <= set(row) for row in rows)
    words = printed.stdout.split()
    assert all(f"{row['value']:.4f}" in words for row in rows)


@pytest.mark.parametrize("command", ["compare", "audit"])
def test_a_stored_form_that_is_none_is_noticed_before_any_file_is_read(command, tmp_path):
    result = run(command, tmp_path / "nowhere", "--stored", "int8,flaot16")
    assert result.returncode == 2
    assert result.stderr.strip() == "offsphere: unknown stored form 'flaot16': did you mean float16 or bfloat16?"
