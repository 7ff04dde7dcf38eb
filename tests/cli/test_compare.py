from __future__ import annotations

import json

import numpy as np
import pytest

from tests.cli.running import run


def test_the_table_ends_with_a_sentence(generated):
    result = run("compare", generated)
    assert result.returncode == 0
    assert result.stderr == ""
    assert "cosine ranks as document-normalized, angular" in result.stdout
    assert result.stdout.rstrip().splitlines()[-1].startswith("Use ")


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
        (["--scorer", "cosine + csls"], "csls is made from a bank of queries"),
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
