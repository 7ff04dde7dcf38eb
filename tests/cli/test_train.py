"""The commands that train encoders, on small models and data made here."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.data.formats.beir import write_beir
from tests.cli.running import printed as run
from tests.learning.encoders.conftest import save_transformer, words_task


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return save_transformer(tmp_path_factory.mktemp("cli"), normalize=True)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A BEIR folder with two splits."""
    folder = tmp_path_factory.mktemp("beir") / "words"
    task = words_task(90, 110)
    judgments = task.judgments
    pairs = [
        (task.query_ids[q], task.document_ids[d]) for q, d in zip(judgments.queries, judgments.documents, strict=True)
    ]
    write_beir(
        folder,
        [(name, "", text) for name, text in zip(task.document_ids, task.document_texts, strict=True)],
        list(zip(task.query_ids, task.query_texts, strict=True)),
        {"train": pairs[:60], "test": pairs[60:]},
        "three words of a document",
    )
    return folder


def test_train_saves_a_model_that_plain_sentence_transformers_loads(data, model, tmp_path):
    from sentence_transformers import SentenceTransformer

    out = tmp_path / "m"
    output = run("train", data, "--model", model, "--normalize", "query", "--steps", 6, "--batch", 16, "--out", out)
    assert "the same by cosine" in output
    assert "trained, as trained" in output
    loaded = SentenceTransformer(str(out))
    assert loaded.similarity_fn_name == "dot"
    lengths = np.linalg.norm(loaded.encode_query(["red cat"]), axis=1)
    np.testing.assert_allclose(lengths, 1, rtol=1e-5)
    assert abs(np.linalg.norm(loaded.encode_document(["red cat"])) - 1) > 0.01
    page = tmp_path / "report.html"
    run("audit", data, "--model", out, "--vectors", tmp_path / "v", "--out", page)
    text = page.read_text()
    assert 'id="train-cosines"' in text
    assert 'id="train-tokens"' in text


def test_the_command_and_python_divide_data_of_one_split_alike(data, model, tmp_path):
    folder = tmp_path / "one"
    shutil.copytree(data, folder)
    (folder / "qrels" / "train.tsv").unlink()
    run("train", folder, "--model", model, "--steps", 2, "--batch", 8, "--out", tmp_path / "m")
    told = json.loads((tmp_path / "m" / "outcome.json").read_text())
    task = osp.load_task(folder)
    trained = osp.train(task, str(model), judge_a_share=True, steps=2, batch=8)
    assert trained.to_json()["outcome"] == told["outcome"]
    assert told["outcome"]["task"]["queries"] == round(0.3 * task.units)
    assert (
        "There is no other split to judge by: 30% of the queries are kept from training for it." in trained.record.said
    )
    assert osp.train(task, str(model), steps=1, batch=8).outcome is None


def test_a_dry_run_prints_the_plan_and_trains_nothing(data, model, tmp_path):
    options = ["--model", model, "--recipe", "e5", "--batch", 16, "--out", tmp_path / "m", "--dry-run"]
    output = run("train", data, *options)
    assert "Normalize (stage 2) taken out, Normalize put in; scored by cosine" in " ".join(output.split())
    assert "49 pairs" in output  # of 60, less 9 held out, less 2 whose text is judged by
    assert "3 of 16 pairs" in output
    plan = json.loads(run("train", data, *options, "--json"))
    assert plan["recipe"]["temperature"] == 0.01
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(("name", "text"), [
    ("r.toml", 'recipe = "magnitude"\nbatch = 16\nsteps = 3\nprompts = ["q: ", "d: "]\n'),
    ("r.yaml", 'recipe: magnitude\nbatch: 16\nsteps: 3\nprompts: ["q: ", "d: "]\n'),
])  # fmt: skip
def test_a_file_gives_the_recipe_and_what_is_typed_goes_before_it(data, model, tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    options = ["--model", model, "--config", path, "--dry-run", "--json", "--steps", 2, "--set", "pooling=cls"]
    recipe = json.loads(run("train", data, *options))["recipe"]
    assert (recipe["normalize"], recipe["batch"], recipe["steps"]) == ("query", 16, 2)
    assert recipe["prompts"] == ["q: ", "d: "]
    assert recipe["pooling"] == "cls"


def test_prompts_are_learned_with_and_saved(data, model, tmp_path):
    from sentence_transformers import SentenceTransformer

    run("train", data, "--model", model, "--recipe", "e5", "--steps", 2, "--batch", 16, "--out", tmp_path / "m")
    loaded = SentenceTransformer(str(tmp_path / "m"))
    assert (loaded.prompts["query"], loaded.prompts["document"]) == ("query: ", "passage: ")


def test_text_pairs_are_trained_on_and_strange_columns_are_told(model, tmp_path):
    rows = [{"anchor": f"red cat {n}", "positive": f"the cat is red {n}", "negative": "a dog"} for n in range(40)]
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    output = run(
        "train", path, "--model", model, "--steps", 2, "--batch", 8, "--hard-negatives", 1, "--out", tmp_path / "m"
    )
    assert "learned from 24 pairs" in output  # of 40, less 12 to judge by and 4 to stop by
    path.write_text("\n".join(json.dumps({"left": "a", "right": "b"}) for _ in range(40)))
    with pytest.raises(OffsphereError, match=r"expected a query .*the row is {'left': 'a', 'right': 'b'}"):
        run("train", path, "--model", model)


def test_bad_options_are_told(data, model, tmp_path):
    path = tmp_path / "r.toml"
    path.write_text("temperatur = 1")
    for arguments, match in [
        (["--config", path], "did you mean temperature"),
        (["--config", tmp_path / "none.toml"], "does not exist"),
        (["--recipe", "clop"], "did you mean clip"),
        (["--set", "pooling=middle"], "mean, cls, max"),
        (["--normalize", "sideways"], "unknown normalisation"),
        (["--batch", 400], "a batch has 400"),
        (["--split", "train"], "judge by it"),
    ]:
        with pytest.raises(OffsphereError, match=match):
            run("train", data, "--model", model, "--out", tmp_path / "m", *arguments)
    with pytest.raises(OffsphereError, match="whose weights nobody knows"):
        run("train", data, "--model", "callable:math:sin", "--out", tmp_path / "m")


def test_recipes_are_printed():
    output = run("recipes")
    for name in ("simcse", "simclr", "moco", "dpr", "contriever", "e5", "gte", "clip", "magnitude", "pace"):
        assert f"\n{name}" in output
    rows = {row["recipe"]: row for row in json.loads(run("recipes", "--json"))}
    assert rows["dpr"]["similarity"] == "dot"
    assert rows["magnitude"]["similarity"] == "query-normalized"
    assert rows["clip"]["symmetry"] == "both directions"
    assert all(row["length"] and row["temperature"] for row in rows.values())


def test_an_encoder_is_ablated_and_goes_on_from_its_parts(data, model, tmp_path):
    out = tmp_path / "a"
    options = ["--model", model, "--encoder", "--steps", 4, "--batch", 16, "--rate", 0.001, "--out", out]
    output = run("ablate", data, *options, "--only", "cosine;dot;learn", "--set", "dynamics_every=2", "--seeds", 2)
    assert "learn learned the exponents" in output
    assert "cosine without this training" in output
    before = {path.name: path.stat().st_mtime_ns for path in (out / "parts").iterdir()}
    again = run("ablate", data, *options, "--only", "cosine;dot;learn", "--set", "dynamics_every=2", "--seeds", 2)
    assert again == output
    assert before == {path.name: path.stat().st_mtime_ns for path in (out / "parts").iterdir()}
    ablation = json.loads((out / "ablation.json").read_text())
    assert ablation["trained"] == "encoder"
    run("audit", data, "--model", model, "--vectors", tmp_path / "v", "--ablation", out, "--out", tmp_path / "r.html")
    with pytest.raises(OffsphereError, match="--model"):
        run("ablate", data, "--encoder", "--out", out)
    with pytest.raises(OffsphereError, match="unknown variant"):
        run("ablate", data, *options, "--only", "sideways")


@pytest.mark.parametrize(("over", "values"), [("temperature", "0.05,0.1"), ("pooling", "mean,cls"), ("batch", "8,16")])
def test_a_sweep_draws_what_it_does(data, model, tmp_path, over, values):
    out = tmp_path / "s"
    options = ["--over", over, "--values", values, "--steps", 4, "--set", "dynamics_every=2", "--set", "batch=16"]
    output = run("sweep", data, "--model", model, *options, "--out", out)
    for value in values.split(","):
        assert f"{over} {value}" in output
    assert "The probe at the end" in output
    page = (out / "sweep.html").read_text()
    assert 'id="grid-tokens"' in page
    assert 'id="grid-anisotropy"' in page
    with pytest.raises(OffsphereError, match="unknown sweep"):
        run("sweep", data, "--model", model, "--over", "colour")


# one of the ten slowest: a terminal of its own needs a process of its own, which imports torch for itself
@pytest.mark.slow
def test_the_dynamics_are_shown_live_in_a_terminal(data, model, tmp_path):
    """In a real one: what is written to it has the head of the table and the last step."""
    import os
    import pty
    import subprocess
    import sys

    leader, follower = pty.openpty()
    options = ["--steps", "4", "--batch", "16", "--set", "dynamics_every=2", "--out", str(tmp_path / "m")]
    command = [sys.executable, "-m", "offsphere", "train", str(data), "--model", str(model), *options]
    wide = {**os.environ, "COLUMNS": "120"}
    with subprocess.Popen(command, stderr=follower, stdout=subprocess.DEVNULL, env=wide) as process:
        os.close(follower)
        written = b""
        while True:
            try:
                part = os.read(leader, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            written += part
    os.close(leader)
    assert process.returncode == 0
    text = written.decode()
    assert "anisotropy" in text
    assert "negatives" in text


@pytest.mark.parametrize("name", ["r.yaml", "r.toml"])
def test_numbers_in_a_file_are_numbers(data, model, tmp_path, name):
    mark = ": " if name.endswith("yaml") else " = "
    path = tmp_path / name
    path.write_text(f"rate{mark}2e-5\nbatch{mark}16\n")
    plan = json.loads(run("train", data, "--model", model, "--config", path, "--dry-run", "--json"))
    assert plan["recipe"]["rate"] == 2e-5
    path.write_text(f"steps{mark}2.5\n")
    with pytest.raises(OffsphereError, match=r"steps = 2\.5: expected int"):
        run("train", data, "--model", model, "--config", path, "--dry-run")


@pytest.mark.slow
def test_fields_are_crossed_as_they_are_typed_and_drawn(data, model, tmp_path):
    """Every combination is a row; tables for others stand beside, and a figure for each quantity."""
    import csv

    out = tmp_path / "a"
    crossed = ["--cross", "vrns=0,30", "batch=8,16", "--only", "vrns 0 + batch 8, vrns 30 + batch 8"]
    output = run(
        "ablate", data, *crossed, "--model", model, "--encoder", "--steps", 2, "--out", out, "--figures", "svg,png"
    )
    assert "vrns 30 + batch 8" in output
    assert "batch 16" not in output
    assert "The probe at the end" in output
    assert "VRNS lowers the variance of negatives, at batch 8" in output
    rows = list(csv.DictReader((out / "ablation.csv").read_text().splitlines()))
    assert {row["variant"] for row in rows} == {"vrns 0 + batch 8", "vrns 30 + batch 8"}
    saved = json.loads((out / "ablation.json").read_text())
    values = {row["name"]: row["results"][0]["value"] for row in saved["rows"]}
    assert {row["variant"]: float(row["value"]) for row in rows if row["task"] == saved["tasks"][0]["name"]} == values
    assert (out / "ablation.tex").read_text().startswith(r"\begin{tabular}")
    dynamics = csv.DictReader((out / "dynamics.csv").read_text().splitlines())
    assert {row["step"] for row in dynamics} == {"0", "2"}
    drawn = {path.name for path in (out / "figures").iterdir()}
    assert {"grid.svg", "grid.png", "scatter.svg", "track-lengths.png"} <= drawn


def test_options_for_something_else_are_told(data, model, tmp_path):
    for arguments, match in [
        (["--encoder", "--model", model, "--sweep", "colour"], "unknown sweep"),
        (["vrns=0,30"], "belong behind --cross"),
        (["--cross", "vrns=0,30", "--sweep", "batch"], "give one of them"),
        (["--cross", "vrns=0,30", "--only", "cosine"], "unknown variant"),
        (["--figures", "gif"], "unknown format of figures"),
        (["--judge", "nowhere"], "add --encoder"),
        (["--encoder", "--model", model, "--seeds", 0], "at least one"),
        (["--recipe", "clip"], "add --encoder"),
        (["--held-out", "nowhere"], "add --encoder"),
    ]:
        with pytest.raises(OffsphereError, match=match):
            run("ablate", data, "--out", tmp_path / "a", *arguments)
    for arguments, match in [
        (["--epochs", 0], "at least 1"),
        (["--steps", 0], "at least 1"),
        (["--max-tokens", 900], "places for 64"),
        (["--held-out", "nowhere"], "does not exist"),
        (["--set", "batch=inf"], "NAME=VALUE"),
    ]:
        with pytest.raises(OffsphereError, match=match):
            run("train", data, "--model", model, "--out", tmp_path / "m", *arguments)


def test_held_out_data_may_name_a_split(data, model, tmp_path):
    with pytest.raises(OffsphereError, match="judged by too"):
        run("train", data, "--model", model, "--held-out", data, "--dry-run")
    with pytest.raises(OffsphereError, match="has no split 'dev'"):
        run("train", data, "--model", model, "--held-out", f"{data}:dev", "--dry-run")


def test_a_learned_model_says_how_it_is_loaded(data, model, tmp_path):
    out = tmp_path / "m"
    output = run("train", data, "--model", model, "--normalize", "learn", "--steps", 2, "--batch", 16, "--out", out)
    assert "trust_remote_code=True) with offsphere installed" in output
    from sentence_transformers import SentenceTransformer

    plain = SentenceTransformer(str(out), trust_remote_code=True)
    from offsphere.encode.sentence import load_sentence_transformer

    np.testing.assert_array_equal(
        plain.encode_query(["red cat"]), load_sentence_transformer(str(out)).encode_query(["red cat"])
    )


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl"])
def test_files_that_are_no_pairs_show_their_first_row(model, tmp_path, suffix):
    path = tmp_path / f"data{suffix}"
    mark = {".csv": ",", ".tsv": "\t"}.get(suffix)
    rows = [["left", "right"], ["one text", "another"]]
    lines = [mark.join(row) for row in rows] if mark else [json.dumps({"left": "one text", "right": "another"})]
    path.write_text("\n".join(lines))
    with pytest.raises(OffsphereError, match="one text"):
        run("train", path, "--model", model)
