"""What belongs to a file is nothing only where nothing is there: a folder, a pipe, a link into nowhere is refused."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.base.reading.file_access import is_there
from offsphere.base.unfinished import is_unfinished, mark_beside
from offsphere.data import load_task
from offsphere.data.vector_files import find_file, read_ids, read_vectors
from offsphere.engines.files.exchange import import_vectors
from offsphere.factors.node_features import find_features
from offsphere.runners.gathering import StateFolder
from offsphere.runners.local_runner import LocalRunner
from offsphere.scoring.cut import NAME, Cut
from offsphere.scoring.training_record import RECORD
from tests.data.formats.test_hostile_data import write_beir

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes with names")
VECTORS = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
THERE = {
    "a folder": (Path.mkdir, "is (a folder, not a file|no finished store)"),
    "a pipe": (os.mkfifo, "is not a regular file"),
    "a dangling link": (lambda path: path.symlink_to("nowhere"), "is a link that leads nowhere"),
}


@pytest.fixture(params=THERE)
def put(request):
    """Puts something that is no file where a companion belongs, and demands that who reads names it."""
    make, reason = THERE[request.param]

    def put_there(path, read):
        path.parent.mkdir(parents=True, exist_ok=True)
        make(path)
        with pytest.raises(OffsphereError, match=rf"{path.name} {reason}"):
            read()
        path.rmdir() if path.is_dir() else path.unlink()

    return put_there


def test_ids_beside_vectors(tmp_path, put):
    """Once the rows were numbered instead, and an import said nothing."""
    np.save(tmp_path / "v.npy", VECTORS)
    put(tmp_path / "v.ids", lambda: read_vectors(tmp_path / "v.npy"))
    put(tmp_path / "v.ids", lambda: import_vectors(str(tmp_path / "v.npy"), tmp_path / "store"))
    assert read_vectors(tmp_path / "v.npy").ids is None
    assert not (tmp_path / "store").exists()


def test_checksums_beside_vectors(tmp_path, put):
    """Once the check for damage was switched off by them."""
    np.save(tmp_path / "v.npy", VECTORS)
    put(tmp_path / "v.npy.sha256", lambda: read_vectors(tmp_path / "v.npy"))


def test_one_of_several_files_of_vectors(tmp_path, put):
    np.savez(tmp_path / "queries.npz", vectors=VECTORS)
    (tmp_path / "queries.npy").mkdir()
    with pytest.raises(OffsphereError, match="keep the one to use"):
        find_file(tmp_path, "queries")
    (tmp_path / "queries.npy").rmdir()
    (tmp_path / "queries.npz").unlink()
    put(tmp_path / "queries.npy", lambda: read_vectors(find_file(tmp_path, "queries")))


def test_a_part_of_vectors(tmp_path):
    """Once the corpus was smaller by it."""
    np.save(tmp_path / "a.npy", VECTORS)
    (tmp_path / "b.npy").symlink_to("nowhere")
    with pytest.raises(OffsphereError, match=r"b.npy is a link that leads nowhere"):
        read_vectors(tmp_path)


def test_ids_of_queries_and_documents(tmp_path, put):
    (tmp_path / "qrels.tsv").write_text("q1\td1\t1\n")
    (tmp_path / "documents.ids").write_text("d1\nd2\n")
    put(tmp_path / "queries.ids", lambda: load_task(tmp_path))
    (tmp_path / "documents.ids").unlink()
    put(tmp_path / "documents.ids", lambda: load_task(tmp_path))
    assert read_ids(tmp_path / "queries.ids") is None


def test_how_judgments_were_made(tmp_path, put):
    """Once they were taken for judgments of people."""
    folder = write_beir(tmp_path)
    put(folder / "made.json", lambda: load_task(folder))
    put(folder / "corpus-2.jsonl", lambda: in_parts(folder))


def in_parts(folder):
    (folder / "corpus.jsonl").rename(folder / "corpus-1.jsonl")
    try:
        load_task(folder)
    finally:
        (folder / "corpus-1.jsonl").rename(folder / "corpus.jsonl")


def test_judgments_in_the_folder_itself(tmp_path):
    folder = write_beir(tmp_path)
    (folder / "qrels" / "test.tsv").unlink()
    (folder / "qrels.test.tsv").symlink_to("nowhere")
    with pytest.raises(OffsphereError, match="is a link that leads nowhere"):
        load_task(folder)


def test_texts_and_features_beside_links(tmp_path, put):
    (tmp_path / "edges.tsv").write_text("".join(f"n{one}\tn{other}\n" for one in range(9) for other in range(one)))
    put(tmp_path / "nodes.tsv", lambda: load_task(tmp_path))
    put(tmp_path / "features.npy", lambda: find_features(tmp_path))


def test_shots_are_not_taken_from_the_test(tmp_path, put):
    """Once they were, where train.tsv could not be read."""
    rows = "".join(f"text {row}\tlabel {row % 3}\n" for row in range(18))
    (tmp_path / "test.tsv").write_text(rows)
    put(tmp_path / "train.tsv", lambda: load_task(f"{tmp_path}?ways=2&shots=1&items=1&episodes=3"))


def test_labels_beside_pictures(tmp_path, put):
    header = b"\0\0\x08\x03" + np.array([2, 2, 2], ">u4").tobytes()
    (tmp_path / "train-images-idx3-ubyte").write_bytes(header + bytes(8))
    put(tmp_path / "train-labels-idx1-ubyte", lambda: load_task(tmp_path))


def test_checksums_and_manifest_of_a_store(tmp_path, put):
    np.save(tmp_path / "v.npy", VECTORS)
    store = import_vectors(str(tmp_path / "v.npy"), tmp_path / "store")
    manifest = store.folder / "manifest.json"
    values = json.loads(manifest.read_bytes())
    del values["digests"]
    manifest.write_text(json.dumps(values))
    (store.folder / "checksums.npy").unlink()
    osp.open_store(store.folder)  # as the first versions wrote it
    (store.folder / "checksums.npy").symlink_to("nowhere")
    with pytest.raises(OffsphereError, match="'digests'"):
        osp.open_store(store.folder)
    manifest.unlink()
    put(manifest, lambda: osp.open_store(store.folder))


def test_what_stands_beside_a_scorer(tmp_path, put):
    """Its threshold, and the record of its training: once it had none."""
    scorer = osp.parse_scorer("cosine")
    scorer.save(tmp_path)
    put(tmp_path / NAME, lambda: Cut.load(tmp_path, scorer.key))
    put(tmp_path / RECORD, lambda: osp.Training.load(tmp_path))


@pytest.mark.parametrize("name", ["progress.json", "strategy.json", "verification.json"])
def test_what_an_export_keeps(tmp_path, put, name):
    """How far it came, how it was served, and of which collection the folder tells."""
    target = f"faiss:{tmp_path}/v.faiss"
    put(tmp_path / "out" / name, lambda: osp.export("dot", VECTORS, target, k=2, tune=True, out=tmp_path / "out"))


def test_ids_and_header_beside_an_index(tmp_path, put):
    target = f"hnswlib:{tmp_path}/v.hnsw"
    osp.export("dot", VECTORS, target, k=2)
    for name in ("v.hnsw.sha256", "v.hnsw.json", "v.hnsw.ids"):
        content = (tmp_path / name).read_bytes()
        (tmp_path / name).unlink()
        put(tmp_path / name, lambda: import_vectors(target, tmp_path / "store"))
        if not name.endswith(".sha256"):
            (tmp_path / name).write_bytes(content)


def test_states_of_shards(tmp_path, put):
    states = StateFolder(tmp_path, 1)
    put(states.path("compare", 1), lambda: states.gather(LocalRunner(), None, "compare"))


def test_the_plan_of_a_training(tmp_path, put):
    """Once its checkpoints were removed and it began anew."""
    pytest.importorskip("transformers")
    from offsphere.learning.encoders.callbacks import MARK
    from offsphere.learning.encoders.training_folder import PLAN, open_checkpoints

    checkpoints = tmp_path / "checkpoints"
    (checkpoints / "checkpoint-5").mkdir(parents=True)
    (checkpoints / "checkpoint-5" / MARK).touch()
    setup = SimpleNamespace(digest=lambda: "of it", plan=dict)
    put(checkpoints / PLAN, lambda: open_checkpoints(tmp_path, setup, restart=False))
    assert (checkpoints / "checkpoint-5" / MARK).exists()


def test_a_mark_of_what_is_not_finished(tmp_path):
    mark_beside(tmp_path / "table").symlink_to("nowhere")
    assert is_unfinished(tmp_path / "table")


def test_what_no_name_can_be_is_not_there(tmp_path):
    assert not is_there(tmp_path / ("x" * 300))
    assert not is_there(tmp_path / "a\0b")
    (tmp_path / "file").touch()
    assert is_there(tmp_path / "file")
    assert not is_there(tmp_path / "file" / "v.ids")
