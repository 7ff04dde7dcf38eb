"""``export``, and what ``audit --export`` and ``compare --save`` hand over to it: as a user types them."""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import DataError, OffsphereError, ParameterError
from tests.cli.running import printed, run, run_here
from tests.engines.engine_laws import run_code
from tests.engines.models.test_model_folder import assert_same_ranking
from tests.learning.encoders.conftest import save_transformer, words_task


class Audited(NamedTuple):
    """What ``audit --export`` printed, and the folder in which it was run."""

    folder: object
    result: object


@pytest.fixture(scope="module")
def audited(generated, tmp_path_factory):
    pytest.importorskip("duckdb")
    folder = tmp_path_factory.mktemp("audited")
    options = ("--export", "duckdb:x.duckdb:docs", "--save", "chosen", "--out", "audit.html")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        return Audited(folder, run("audit", generated, *options, cwd=folder))


def best_ten(scorer, data, queries=5):
    """The ids that an exact search of a folder of vectors ranks first."""
    ids = (data / "documents.ids").read_text().splitlines()
    asked, documents = (np.load(data / f"{side}.npy") for side in ("queries", "documents"))
    best = osp.search(asked[:queries], documents, [scorer], 10, ids=ids)[0].documents
    return [[ids[row] for row in rows] for rows in best.tolist()], asked[:queries]


def asked_by_code(folder, queries):
    """The ids that the code finds which an export wrote."""
    code = (folder / "query.py").read_text()
    return [[name for name, _ in run_code(code, queries[row : row + 1])] for row in range(len(queries))]


def test_an_audit_exports_what_its_verdict_names(audited, generated, monkeypatch):
    folder, result = audited
    assert result.returncode == 0, result.stderr
    scorer = osp.Scorer.load(folder / "export" / "duckdb-docs" / "scorer")
    assert scorer.key == osp.Scorer.load(folder / "chosen").key
    assert scorer.name in result.stdout.splitlines()[0]
    assert (folder / "audit.html").is_file()
    told = " ".join(result.stdout.split())
    assert f"duckdb:x.duckdb:docs: 3,000 vectors for {scorer.name}" in told
    assert "It returns what was measured: 100.0% of the exact 10 best" in told
    record = json.loads((folder / "export" / "duckdb-docs" / "verification.json").read_text())
    assert (record["scorer"], record["key"]) == (scorer.name, scorer.key)
    assert (record["recall"], record["passed"], record["made_of"], record["k"]) == (1.0, True, "queries", 10)
    monkeypatch.chdir(folder)
    best, queries = best_ten(scorer, generated)
    assert asked_by_code(folder / "export" / "duckdb-docs", queries) == best


def test_an_audit_that_exports_again_prints_json_alone_and_leaves_the_table_as_it_is(audited, generated, monkeypatch):
    folder, _ = audited
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    before = (folder / "x.duckdb").read_bytes()
    result = run("audit", generated, "--json", "--export", "duckdb:x.duckdb:docs", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["advice"]["scorer"]
    assert (folder / "x.duckdb").read_bytes() == before


def test_an_audit_replaces_another_collection_only_when_told(generated, tmp_path, monkeypatch):
    pytest.importorskip("faiss")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    osp.export("dot", np.eye(3, dtype=np.float32), "faiss:v.faiss")
    options = ("audit", generated, "--out", "audit.html", "--export", "faiss:v.faiss")
    with pytest.raises(DataError, match=r"holds 3 vectors of 3 dimensions .* replace them with --replace"):
        run_here(*options)
    assert (tmp_path / "audit.html").is_file()  # what was found is kept
    assert "3,000 vectors" in printed(*options, "--replace")


def test_pairs_have_nothing_to_export(tmp_path):
    lines = [f"{score},red {score} bird,old {score % 3} tree" for score in range(30)]
    (tmp_path / "pairs.csv").write_text("\n".join(["score,sentence1,sentence2", *lines]))
    target = f"duckdb:{tmp_path}/x.duckdb:docs"
    options = ("--model", "wordllama", "--vectors", tmp_path / "v", "--out", tmp_path / "a.html", "--export", target)
    with pytest.raises(ParameterError, match="pairs have no documents to search"):
        run_here("audit", tmp_path / "pairs.csv", *options)
    assert not (tmp_path / "x.duckdb").exists()


def test_an_audit_ends_with_one_where_the_engine_returns_less_than_the_goal(tmp_path, monkeypatch):
    """sqlite-vec knows distances only, and beside one document that is very long those of others become alike."""
    pytest.importorskip("sqlite_vec")
    from typer.testing import CliRunner

    from offsphere.cli import app

    rng = np.random.default_rng(0)
    documents = (rng.normal(size=(400, 8)) * np.exp(rng.normal(0, 0.6, (400, 1)))).astype(np.float32)
    documents[:, 0] = 0
    queries = (documents[:120] + rng.normal(0, 0.2, (120, 8))).astype(np.float32)
    queries[:, 0] = 1
    documents = np.concatenate([documents, np.eye(1, 8, dtype=np.float32) * -1e6])  # far from all that anybody asks
    relevant = np.argsort(-(queries @ documents.T), axis=1)[:, :3]
    np.savez(tmp_path / "documents.npz", vectors=documents, ids=np.array([f"d{row}" for row in range(401)]))
    np.savez(tmp_path / "queries.npz", vectors=queries, ids=np.array([f"q{row}" for row in range(120)]))
    lines = [f"q{query}\td{row}\t1\n" for query, rows in enumerate(relevant) for row in rows]
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    result = CliRunner().invoke(app, ["audit", str(tmp_path), "--export", "sqlite:x.db:docs"])
    assert result.exit_code == 1
    told = " ".join(result.stdout.split())
    assert "401 vectors for dot" in told
    assert "It returns less than asked for" in told
    command = "What to change, by offsphere export export/sqlite-docs/scorer --to sqlite:x.db:docs:"
    assert command in told
    assert "take an engine that has inner product" in told
    other = printed("export", "export/sqlite-docs/scorer", "--vectors", tmp_path, "--to", "faiss:v.faiss")  # as is said
    assert "100.0% of the exact 10 best" in " ".join(other.split())
    assert json.loads((tmp_path / "export" / "sqlite-docs" / "verification.json").read_text())["passed"] is False


def test_what_a_comparison_saves_is_exported_by_its_folder(generated, tmp_path, monkeypatch):
    pytest.importorskip("faiss")
    monkeypatch.chdir(tmp_path)
    assert "The scorer is in chosen." in printed("compare", generated, "--scorer", "polar(1, 0.5)", "--save", "chosen")
    scorer = osp.Scorer.load("chosen")
    said = printed("export", "chosen", "--vectors", generated, "--to", "faiss:v.faiss", "--out", "out")
    assert f"3,000 vectors for {scorer.name}" in " ".join(said.split())
    assert osp.Scorer.load("out/scorer").key == scorer.key
    best, queries = best_ten(scorer, generated)
    assert asked_by_code(tmp_path / "out", queries) == best


@pytest.fixture(scope="module")
def folded(tmp_path_factory):
    """A model, and the vectors that it made of some texts."""
    folder = tmp_path_factory.mktemp("folded")
    model = save_transformer(folder, normalize=True)
    task = words_task(queries=20, documents=120)
    vectors = osp.embed(task, osp.load_encoder(str(model)), folder / "vectors")
    return model, folder / "vectors", task, tuple(np.asarray(side) for side in vectors.sides)


def encoded(folder, task):
    """The vectors that sentence-transformers makes by a folder."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")
    queries, documents = model.encode_query(task.query_texts), model.encode_document(task.document_texts)
    return {"queries": queries, "documents": documents}


def test_a_scorer_is_folded_into_a_model_by_the_command(folded, tmp_path):
    model, vectors, task, raw = folded
    to = f"sentence-transformers:{tmp_path}/m"
    said = printed("export", "center + cosine", "--to", to, "--model", model, "--vectors", vectors)
    told = " ".join(said.split())
    assert f"{tmp_path}/m: {model} that ends in center + cosine." in told
    assert "sentence-transformers alone loads it" in told
    scorer = osp.parse_scorer("center + cosine").fit(raw[1])
    assert_same_ranking(scorer, raw, encoded(tmp_path / "m", task), 1e-4)
    with pytest.raises(DataError, match="holds a model: choose another folder, or replace it with --replace"):
        run_here("export", "dot", "--to", to, "--model", model)
    values = json.loads(printed("export", "dot", "--to", to, "--model", model, "--replace", "--json"))
    assert (values["scorer"], values["plain"], values["dimension"]) == ("dot", True, 32)
    assert_same_ranking(osp.parse_scorer("dot"), raw, encoded(tmp_path / "m", task), 1e-4)


def test_a_scorer_that_was_fitted_needs_no_vectors(folded, tmp_path):
    model, _, task, raw = folded
    scorer = osp.parse_scorer("whiten(0.5) + cosine").fit(raw[1])
    scorer.save(tmp_path / "scorer")
    printed("export", tmp_path / "scorer", "--to", f"sentence-transformers:{tmp_path}/m", "--model", model)
    assert_same_ranking(scorer, raw, encoded(tmp_path / "m", task), 1e-3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("center + cosine",), "which model is to end in the scorer? Give the one that made the vectors with --model"),
        (
            ("center + cosine", "--model", "MODEL"),
            "center + cosine must be fitted on documents first: give their vectors with --vectors",
        ),
        (("dot", "--model", "MODEL", "--tune"), "--tune is for search engines: leave it out"),
        (("dot", "--model", "MODEL", "--stored", "int8"), "--stored is for search engines: leave it out"),
    ],
)
def test_what_a_model_needs_is_one_line(folded, tmp_path, options, words):
    options = [str(folded[0]) if option == "MODEL" else option for option in options]
    with pytest.raises(OffsphereError) as caught:
        run_here("export", *options, "--to", f"sentence-transformers:{tmp_path}/m")
    assert str(caught.value).startswith(words)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_what_an_engine_needs_is_one_line(tmp_path):
    target = f"faiss:{tmp_path}/v.faiss"
    with pytest.raises(ParameterError, match="which vectors\\? Give those of the documents with --vectors DIR"):
        run_here("export", "dot", "--to", target)
    with pytest.raises(ParameterError, match="--model is for sentence-transformers:FOLDER: leave it out"):
        run_here("export", "dot", "--to", target, "--vectors", tmp_path, "--model", "wordllama")
    assert not list(tmp_path.iterdir())
