"""Qdrant's own engine in this process: real graphs, and the words that a server understands too."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from offsphere.base.errors import DataError, OffsphereError
from offsphere.engines import qdrant_edge
from offsphere.engines.shipping.exporting import export
from tests.engines import engine_laws as laws
from tests.processes import PATIENCE, ROOT, environment_with

edge = pytest.importorskip("qdrant_edge")


@pytest.fixture
def target(tmp_path):
    return f"qdrant-edge:{tmp_path}/shard"


@pytest.mark.parametrize("name", laws.EVERY_SCORER)
def test_scorers_are_served_exactly(target, name):
    laws.check_served(target, name, index="exact")


@pytest.mark.slow
@pytest.mark.parametrize("name", laws.SCORERS)
def test_every_scorer_is_served_by_a_real_graph(target, monkeypatch, name):
    monkeypatch.setattr(qdrant_edge, "FULL_SCAN", 1)
    laws.check_served(target, name, index="graph")


@pytest.mark.parametrize("name", ["cosine", "dot", "euclidean", "polar(1, 0.5)", "whiten(0.5) + norm-mix(0.9)", "csls"])
def test_scorers_are_served_by_a_real_graph(target, monkeypatch, name):
    monkeypatch.setattr(qdrant_edge, "FULL_SCAN", 1)  # kilobytes: otherwise so few vectors get no graph
    done = laws.check_served(target, name)
    assert done.strategy.index == "graph"
    shard = edge.EdgeShard.load(target.partition(":")[2])
    assert shard.info().indexed_vectors_count == len(laws.DOCUMENTS)
    shard.close()


def test_fewer_bits_find_less_and_an_export_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(qdrant_edge, "FULL_SCAN", 1)
    recalls = {}
    for stored in ("float32", "float16", "int8", "binary"):
        target = f"qdrant-edge:{tmp_path}/{stored}"
        done = export("dot", laws.DOCUMENTS, target, queries=laws.QUERIES, stored=stored)
        recalls[stored] = done.verification.recall
        assert (laws.read_back(target)[1].stored == "float32") == (stored == "float32")
    assert recalls["float32"] >= recalls["int8"] > recalls["binary"]
    assert recalls["float16"] >= 0.95
    assert "store the vectors as float32" in done.advice[0]


def test_real_vectors_are_served_by_a_graph(target, embedded, monkeypatch):
    monkeypatch.setattr(qdrant_edge, "FULL_SCAN", 1)
    laws.check_real(embedded, target, "graph", k=10)  # more: see the next test


@pytest.mark.slow
def test_what_its_graph_of_inner_products_never_reaches_bands_of_length_find(target, embedded, monkeypatch):
    """Its limit, which its notes and the page tell: more candidates than there are documents are not enough."""
    monkeypatch.setattr(qdrant_edge, "FULL_SCAN", 1)
    _, vectors = embedded("cranfield")
    documents, queries = np.asarray(vectors.documents), np.asarray(vectors.queries)
    how = {"queries": queries, "k": 100, "index": "graph", "replace": True, "goal": 0.98}  # builds differ by 0.04
    plain = export("dot", documents, target, effort=2 * len(documents), **how)
    assert plain.verification.recall < 0.98
    assert "let the export race other ways to serve it: add --tune" in plain.advice
    assert any("cannot be reached in its graph" in note for note in qdrant_edge.QDRANT_EDGE.notes)
    tuned = export("dot", documents, target, tune=True, **how)
    assert tuned.passed
    assert tuned.strategy.edges or tuned.strategy.serving.augmented
    (bands,) = (seen.recall for tried, seen in tuned.raced if tried.edges)
    raw = [seen.recall for tried, seen in tuned.raced if not tried.edges and not tried.serving.augmented]
    assert bands > 0.98
    assert len(raw) > 2
    assert max(raw) < 0.98


def test_what_was_stored_comes_back(target):
    laws.check_reads_back(target)


@pytest.mark.parametrize("name", ["dot", "cosine", "standardize + polar(1, 0.5)"])
def test_the_snippet_runs_as_it_is_printed(tmp_path, target, name):
    laws.check_snippet(laws.check_served(target, name, out=tmp_path / "out"), target)


def test_a_kill_in_the_middle_loses_nothing(tmp_path, target):
    laws.check_killed(target, tmp_path / "noted", moment="within")
    laws.check_killed(f"{target}2", tmp_path / "unnoted", moment="within", noted=False)
    assert not list(tmp_path.glob(".*unfinished"))


def test_a_finished_export_is_left_alone(tmp_path, target):
    laws.check_idempotent(target, tmp_path / "out")


def test_ids_of_any_text_survive(target):
    laws.check_ids(target, [*laws.ODD_IDS, laws.LONG_ID])


def test_cosine_throws_lengths_away_and_says_so(target):
    export("cosine", laws.DOCUMENTS, target)
    rows, facts = laws.read_back(target)
    assert facts.normalized
    assert np.allclose([np.linalg.norm(row) for row in rows.values()], 1, atol=1e-5)


def test_reading_changes_no_byte(tmp_path, target):
    export("dot", laws.DOCUMENTS, target)

    def digests():
        files = [path for path in (tmp_path / "shard").rglob("*") if path.is_file()]
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    before = digests()
    laws.read_back(target)
    assert digests() == before


def test_shards_that_others_made_are_read_by_the_names_they_chose(tmp_path, target):
    parameters = edge.EdgeVectorParams(size=2, distance=edge.Distance.Dot)
    (tmp_path / "shard").mkdir()
    shard = edge.EdgeShard.create(
        str(tmp_path / "shard"), edge.EdgeConfig(vectors={"text": parameters, "image": parameters})
    )
    points = [edge.Point(n, {"text": [n, 1.0], "image": [0.0, n]}, {"code": f"c{n}"}) for n in (3, 12)]
    shard.update(edge.UpdateOperation.upsert_points(points))
    shard.close()
    with pytest.raises(DataError, match=r"\(text, image\): say which with --vector-column|\(image, text\): say which"):
        laws.read_back(target)
    with pytest.raises(DataError, match="has no vectors called 'sound'"):
        laws.read_back(target, vector_name="sound")
    rows, _ = laws.read_back(target, vector_name="text", id_field="code")
    assert {name: row.tolist() for name, row in rows.items()} == {"c3": [3, 1], "c12": [12, 1]}
    assert set(laws.read_back(target, vector_name="image")[0]) == {"3", "12"}
    with pytest.raises(DataError, match="has no 'title' in its payload, nor has any other"):
        laws.read_back(target, vector_name="image", id_field="title")


def test_what_is_no_shard_is_one_line(tmp_path, target):
    (tmp_path / "shard").mkdir()
    (tmp_path / "shard" / "letter").write_text("mine")
    with pytest.raises(DataError, match="is no shard of Qdrant"):
        export("dot", laws.DOCUMENTS, target)
    assert (tmp_path / "shard" / "letter").read_text() == "mine"
    (tmp_path / "file").write_text("")
    with pytest.raises(OffsphereError, match="is a file, not the folder"):
        export("dot", laws.DOCUMENTS, f"qdrant-edge:{tmp_path}/file")
    with pytest.raises(DataError, match="is an address: a shard is a folder"):
        export("dot", laws.DOCUMENTS, "qdrant-edge:http://localhost:6333")


HOLD = "import sys, qdrant_edge; shard = qdrant_edge.EdgeShard.load(sys.argv[1]); print('held', flush=True); input()"


def test_a_shard_that_another_process_uses_is_one_line(tmp_path, target):
    export("dot", laws.DOCUMENTS, target)
    command = [sys.executable, "-c", HOLD, str(tmp_path / "shard")]
    other = subprocess.Popen(command, stdin=-1, stdout=-1, text=True, env=environment_with(ROOT))
    try:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(OffsphereError, match="another process uses the shard"):
            laws.read_back(target)
    finally:
        other.communicate("\n", timeout=PATIENCE)
    assert len(laws.read_back(target)[0]) == len(laws.DOCUMENTS)
