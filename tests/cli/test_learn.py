"""adapt and ablate as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.data.formats.beir import write_beir
from offsphere.learning.ablation.ablation import Ablation
from tests.cli.running import printed as run
from tests.cli.running import run_here
from tests.engines.engine_laws import run_code
from tests.learning.conftest import hidden
from tests.processes import PATIENCE


@pytest.fixture
def folder(tmp_path):
    """A task with a train and a test split, and vectors, as files."""
    task, vectors = hidden(queries=300)
    np.save(tmp_path / "documents.npy", vectors.documents)
    (tmp_path / "documents.ids").write_text("\n".join(task.document_ids))
    (tmp_path / "qrels").mkdir()
    for split, chosen in (("train", range(200)), ("test", range(200, 300))):
        name = "queries" if split == "test" else "queries-train"
        np.save(tmp_path / f"{name}.npy", vectors.queries[list(chosen)])
        (tmp_path / f"{name}.ids").write_text("\n".join(f"q{q}" for q in chosen))
        lines = [f"q{q}\td{task.judgments.documents[q]}\t1" for q in chosen]
        (tmp_path / "qrels" / f"{split}.tsv").write_text("query-id\tcorpus-id\tscore\n" + "\n".join(lines))
    return tmp_path


def test_adapt_learns_from_train_judges_by_test_and_says_what_is_new(folder, tmp_path):
    out = tmp_path / "adapter"
    output = run("adapt", folder, "--out", out, "--batch", 64, "--rate", 0.03, "--normalize", "query")
    assert "learned from" in output
    assert "(train), stopped by 30 held-out queries" in output
    assert "adapter(untied) + query-normalized" in output
    assert "with a relevant document that was learned from" in " ".join(output.split())
    assert osp.Adapter.load(out).similarity == osp.Polar(1, 0)
    again = run("compare", folder, "--scorer", out, "--json")
    names = [row["name"] for row in json.loads(again)["scorers"]]
    assert "adapter(untied) + query-normalized" in names
    assert not any("no evidence" in note for note in json.loads(again)["notes"])
    leaked = json.loads(run("compare", folder, "--split", "train", "--scorer", out, "--json"))
    assert any("was trained or stopped by 200 of these 200" in note for note in leaked["notes"])
    # what was saved is what is compared, also where another scorer was saved beside the record
    adapter = osp.Adapter.load(out)
    vectors = np.load(folder / "documents.npy")
    osp.Scorer(osp.Polar(0, 1), (osp.Center(), adapter)).fit(osp.Moments.of(vectors)).save(out)
    again = json.loads(run("compare", folder, "--scorer", out, "--json"))
    assert "center + adapter(untied) + document-normalized" in [row["name"] for row in again["scorers"]]
    with pytest.raises(OffsphereError, match="no folder with a saved scorer"):
        run("compare", folder, "--scorer", tmp_path / "nowhere")


def test_an_adapter_is_exported_by_its_folder(folder, tmp_path, monkeypatch):
    pytest.importorskip("faiss")
    monkeypatch.chdir(tmp_path)
    run("adapt", folder, "--out", "adapter", "--batch", 64, "--rate", 0.03, "--normalize", "query")
    said = run("export", "adapter", "--vectors", folder, "--to", "faiss:v.faiss", "--out", "out")
    scorer = osp.Adapter.load("adapter").scorer
    assert f"vectors for {scorer.name}" in " ".join(said.split())
    ids, queries = (folder / "documents.ids").read_text().splitlines(), np.load(folder / "queries.npy")[:5]
    best = osp.search(queries, np.load(folder / "documents.npy"), [scorer], 10, ids=ids)[0].documents
    code = (tmp_path / "out" / "query.py").read_text()
    for number, rows in enumerate(best.tolist()):
        hits = run_code(code, queries[number : number + 1])
        assert [name for name, _ in hits] == [ids[row] for row in rows]


def test_adapt_prints_json_alone(folder, tmp_path):
    values = json.loads(run("adapt", folder, "--out", tmp_path / "a", "--epochs", 2, "--json"))
    assert values["trainings"][0]["recipe"]["normalize"] == "both"
    assert {"seen", "new", "new_low"} <= set(values["splits"][0])
    assert values["trained_on"]["split"] == "train"


def test_a_train_split_that_is_named_must_be_there(folder, tmp_path):
    with pytest.raises(OffsphereError, match="no split 'trian'"):
        run("adapt", folder, "--train-split", "trian", "--out", tmp_path / "a")
    (folder / "qrels" / "train.tsv").write_text("q0\td0\tone\n")
    with pytest.raises(OffsphereError, match=r"train\.tsv:1"):
        run("adapt", folder, "--out", tmp_path / "a")


def test_a_query_whose_only_relevant_document_is_missing_is_said_or_left_out(folder, tmp_path):
    with (folder / "qrels" / "train.tsv").open("a") as stream:
        stream.write("\nq0b\tgone\t1")
    (folder / "queries-train.ids").write_text((folder / "queries-train.ids").read_text() + "\nq0b")
    rows = np.load(folder / "queries-train.npy")
    np.save(folder / "queries-train.npy", np.concatenate([rows, rows[:1]]))
    with pytest.raises(OffsphereError, match="unknown document 'gone'"):
        run("adapt", folder, "--out", tmp_path / "a")
    result = run_here("adapt", folder, "--out", tmp_path / "a", "--epochs", 1, "--ignore-missing")
    assert "1 judged queries have no relevant document and are left out" in result.stderr


def test_any_field_of_a_recipe_can_be_set(folder, tmp_path):
    options = ["--set", "uniformity=0.1", "--set", "length_target=2,0.5", "--set", "patience=3", "--set", "cut=3"]
    values = json.loads(run("adapt", folder, "--out", tmp_path / "a", "--epochs", 1, *options, "--json"))
    recipe = values["trainings"][0]["recipe"]
    assert (recipe["uniformity"], recipe["patience"], recipe["cut"]) == (0.1, 3, 3.0)
    names = [added["name"] for added in values["trainings"][0]["objective"]["regularizers"]]
    assert names == ["lengthtarget", "uniformity"]
    with pytest.raises(OffsphereError, match="did you mean uniformity"):
        run("adapt", folder, "--out", tmp_path / "a", "--set", "unifrmity=1")
    with pytest.raises(OffsphereError, match="expected float"):
        run("adapt", folder, "--out", tmp_path / "a", "--set", "uniformity=much")


def test_adapt_divides_what_has_one_split_only(folder, tmp_path):
    (folder / "qrels" / "train.tsv").unlink()
    values = json.loads(run("adapt", folder, "--out", tmp_path / "a", "--epochs", 2, "--json"))
    assert values["comparison"]["task"]["queries"] == 30
    assert any("30% of the queries were kept" in note for note in values["notes"])
    assert values["trained_on"]["split"] == "test"


def test_adapt_with_known_items_learns_from_the_corpus(tmp_path):
    rng = np.random.default_rng(0)
    words = [f"word{number}" for number in range(400)]
    with (tmp_path / "corpus.jsonl").open("w") as stream:
        for number in range(60):
            title, text = (" ".join(rng.choice(words, count)) for count in (5, 25))
            stream.write(json.dumps({"_id": f"d{number}", "title": f"{title} {number}", "text": text}) + "\n")
    lines = [json.dumps({"_id": f"q{q}", "text": " ".join(rng.choice(words, 6))}) for q in range(40)]
    (tmp_path / "queries.jsonl").write_text("\n".join(lines))
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("".join(f"q{q}\td{q}\t1\n" for q in range(40)))
    options = ["--model", "wordllama", "--vectors", tmp_path / "v", "--known-items", "--epochs", 1, "--batch", 16]
    values = json.loads(run("adapt", tmp_path, *options, "--out", tmp_path / "a", "--json"))
    assert values["trainings"][0]["counts"]["pairs"] > 60
    assert (tmp_path / "v" / "known-items" / "queries").is_dir()
    # the vectors are there now, so no model is needed any more
    run("adapt", tmp_path, "--vectors", tmp_path / "v", "--known-items", "--epochs", 1, "--out", tmp_path / "a")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--normalize", "sideways"], "unknown normalisation"),
        (["--normalize", "1,x"], "two exponents such as 1,0.5"),
        (["--loss", "triplet"], "unknown loss"),
        (["--split", "train"], "choose another --split"),
        (["--known-items"], "no corpus.jsonl"),
        (["--sides", "left"], "untied, tied"),
    ],
)
def test_adapt_says_what_is_wrong(folder, tmp_path, options, message):
    with pytest.raises(OffsphereError, match=message):
        run("adapt", folder, "--out", tmp_path / "a", *options)


def test_adapt_without_vectors_for_the_train_split_says_how_to_make_them(folder, tmp_path):
    (folder / "queries-train.npy").unlink()
    with pytest.raises(OffsphereError, match="no vector for query 'q0'"):
        run("adapt", folder, "--out", tmp_path / "a")


WITHOUT_TORCH = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'")

sys.meta_path.insert(0, Missing())
from offsphere.cli import main
main()
"""


def test_a_missing_torch_is_one_line(folder):
    command = [sys.executable, "-c", WITHOUT_TORCH, "adapt", str(folder)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=PATIENCE, check=False)
    assert result.returncode == 2, result.stderr
    assert "pip install 'offsphere[learn]'" in result.stderr
    assert "Traceback" not in result.stderr


SMALL = ["--temperature", "0.05", "--rate", "0.03", "--epochs", "4", "--batch", "64", "--seeds", "2"]


# one of the ten slowest: 35 variants are trained, and two audits written
def test_ablate_trains_the_grid_tells_what_holds_and_goes_on_where_it_stopped(folder, tmp_path):
    out = tmp_path / "ablation"
    also = f"{folder}={folder}"
    output = run("ablate", folder, "--out", out, "--also", also, *SMALL, "--hard-negatives", 0)
    assert "35 variants" in output
    for name in ("cosine", "dot", "query", "document", "half", "learn"):
        for more in ("", " + tied", " + vrns", " + head"):
            assert f"\n{name}{more} " in output, (name, more)
    alike = "cosine trains as: cosine + input query; cosine + input document; cosine + input both"
    assert alike in " ".join(output.split())
    assert "learn learned the exponents" in output
    ablation = Ablation.load(out)
    assert len(ablation.rows) == 35
    assert ablation.rows[0].results[0].p is None
    # judged by the same data twice, and in between by the queries whose documents are new
    names = [task["name"] for task in ablation.tasks]
    assert names == ["test", "test, new documents", "test"]
    assert all(row.results[0].value == row.results[2].value for row in ablation.rows)
    assert any(row.results[0].value != row.results[1].value for row in ablation.rows)
    assert {row["variant"] for row in ablation.dynamics} == {row.name for row in ablation.rows}
    parts = sorted((out / "parts").iterdir())
    assert len(parts) == 35 * 2  # each seed of each variant
    before = {part: part.stat().st_mtime_ns for part in parts[1:]}
    parts[0].unlink()  # as if it had been killed there
    assert run("ablate", folder, "--out", out, "--also", also, *SMALL, "--hard-negatives", 0) == output
    assert {part: part.stat().st_mtime_ns for part in parts[1:]} == before
    # and the report shows it
    run("audit", folder, "--ablation", out, "--out", tmp_path / "audit.html")
    page = (tmp_path / "audit.html").read_text()
    assert 'id="claims"' in page
    assert "spec-grid-cosines" in page
    run("audit", folder, "--ablation", out, "--adapt", "--format", "md", "--out", tmp_path / "audit.md")
    text = (tmp_path / "audit.md").read_text()
    assert "What learning adds" in text
    assert "## The grid" in text


ASKING = "callable:tests.cli.test_learn:asking"
ANSWERING = "callable:tests.cli.test_learn:answering"


def asking(texts):
    """Texts with a number in them, as a model of queries turns them into vectors."""
    angles = np.array([0.1 * int("0" + "".join(filter(str.isdigit, text))) for text in texts])
    return np.stack([np.cos(angles), np.sin(angles), np.ones_like(angles)], axis=1).astype(np.float32)


def answering(texts):
    """As a model of documents does: the other way round, so that no model can stand for the other."""
    return asking(texts) * np.array([-1, -1, 0.1], np.float32)


def test_what_an_ablation_is_judged_by_too_is_embedded_by_the_same_two_models(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    documents = [(f"d{row}", "", f"a text number {row}") for row in range(60)]
    queries = [(f"q{row}", f"who has number {row}") for row in range(60)]
    pairs = [(f"q{row}", f"d{row}") for row in range(60)]
    write_beir(tmp_path / "task", documents, queries, {"train": pairs[::2], "test": pairs[1::2]}, "made")
    models = ["--model", ANSWERING, "--query-model", ASKING, "--also", tmp_path / "task", "--only", "cosine"]
    run_here("ablate", tmp_path / "task", *models, "--out", tmp_path / "out", *SMALL, "--hard-negatives", 0)
    (row,) = Ablation.load(tmp_path / "out").rows
    assert row.results[0].value == row.results[-1].value  # the same data, so the same vectors


@pytest.mark.parametrize(("parameter", "rows"), [("temperature", 6), ("batch", 4)])
def test_sweeps_change_one_parameter(folder, tmp_path, parameter, rows):
    options = ["--sweep", parameter, "--epochs", 2, "--seeds", 1, "--hard-negatives", 0]
    values = json.loads(run("ablate", folder, "--out", tmp_path / "s", *options, "--json"))
    assert [row["name"].split()[0] for row in values["rows"]] == [parameter] * rows
    for finding in values["findings"]:  # value by value, and the smallest batch against the largest
        assert f", at {parameter} " in finding["claim"] or "batches" in finding["claim"]


def test_ablate_says_what_is_wrong(folder, tmp_path):
    with pytest.raises(OffsphereError, match="unknown sweep"):
        run("ablate", folder, "--sweep", "rate", "--out", tmp_path / "a")
    with pytest.raises(OffsphereError, match="holds no ablation"):
        run("audit", folder, "--ablation", tmp_path / "nothing", "--out", tmp_path / "audit.html")
    with pytest.raises(OffsphereError, match="a sweep varies one parameter"):
        run("ablate", folder, "--sweep", "batch", "--full", "--out", tmp_path / "a")
    with pytest.raises(OffsphereError, match="has no value a query"):
        run("ablate", folder, "--metric", "pooled-ap@100", "--out", tmp_path / "a")
