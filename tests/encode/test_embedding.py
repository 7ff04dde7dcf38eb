from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from offsphere.base.errors import DataError, OffsphereError
from offsphere.data import PairTask, RankingTask, load_vectors
from offsphere.data.ranking_task import ItemList, Judgment
from offsphere.data.store_writer import locked
from offsphere.encode import embed, open_store
from offsphere.encode.embedding import SideItems, embed_items
from offsphere.encode.function import FunctionEncoder
from tests.processes import environment_with, run_command, run_warm

IMPORTS = ("offsphere.encode.embedding", "pyarrow.parquet")
FILES = ("vectors.npy", "ids.parquet", "manifest.json")

# with the argument "wait" the script stands still in every block until a line is written to it; with two numbers the
# system's timer kills it, wherever it then is, so many seconds after so many blocks were begun
HASHED = """
import hashlib, signal, sys
import numpy as np

blocks = 0

def begun():
    if sys.argv[2:] == ["wait"] and blocks:
        print("a block", flush=True)
        sys.stdin.readline()
    elif len(sys.argv) == 4:
        last, delay = int(sys.argv[2]), float(sys.argv[3])
        if blocks == last:
            signal.setitimer(signal.ITIMER_REAL, delay)
        elif blocks > last:
            signal.pause()

def encode(texts):
    global blocks
    blocks += len(texts) > 1  # it is called with one text to learn the dimension
    begun()
    return np.array([np.frombuffer(hashlib.sha256(t.encode()).digest(), np.uint8)[:16] for t in texts], np.float32)

encode.__version__ = "1"
"""

SCRIPT = """
import sys
from offsphere.encode.embedding import SideItems, embed_items
from offsphere.encode.sources import load_encoder
from pathlib import Path

texts = [f"text number {n} " * (n % 7 + 1) for n in range(1500)]
side = SideItems("document", [f"d{n}" for n in range(1500)], texts)
embed_items(side, load_encoder("callable:hashed:encode"), Path(sys.argv[1]), block=16)
"""


LIMITED = """
import hashed, resource
unlimited, calls = hashed.encode, []

def encode(texts):
    calls.append(1)
    if len(calls) == 5:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
    return unlimited(texts)

encode.__version__ = "1"
hashed.encode = encode
"""


def hashed(texts):
    return np.array([[len(text), text.count("a"), 1.0] for text in texts], np.float32)


ENCODER = FunctionEncoder(hashed, "callable:hashed")


def side_of(texts):
    return SideItems("document", [f"d{n}" for n in range(len(texts))], texts)


def run(folder, home, *arguments, code=SCRIPT):
    return run_warm(code, folder, *arguments, imports=IMPORTS, env=environment_with(home))


def contents(folder):
    return {name: (folder / name).read_bytes() for name in FILES}


@pytest.mark.slow
def test_a_store_survives_twenty_kills_and_ends_the_same(tmp_path):
    """A kill comes a moment after up to three blocks; where in its work the process then is, is left to chance."""
    (tmp_path / "hashed.py").write_text(HASHED)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert run(whole, tmp_path).returncode == 0
    rng = random.Random(0)
    done = []
    for _ in range(22):
        assert run(killed, tmp_path, rng.randint(0, 3), rng.uniform(1e-4, 4e-3)).returncode == -signal.SIGALRM
        progress = killed / ".progress.json"
        if progress.exists():
            done.append(json.loads(progress.read_bytes())["done"])
            assert not (killed / "manifest.json").exists()
    assert len(set(done)) > 2, "the kills came at different moments"
    assert run(killed, tmp_path).returncode == 0
    assert contents(killed) == contents(whole)


def test_a_second_run_encodes_nothing(tmp_path):
    calls = []

    def counted(texts):
        calls.append(len(texts))
        return hashed(texts)

    encoder = FunctionEncoder(counted, "callable:counted")
    texts = [f"text {n}" for n in range(50)]
    embed_items(side_of(texts), encoder, tmp_path / "store", block=20)
    before = list(calls)
    embed_items(side_of(texts), encoder, tmp_path / "store", block=20)
    assert calls == before
    assert sum(calls) == 50 + 1  # and one to learn the dimension


def test_a_changed_text_is_noticed_and_nothing_is_mixed(tmp_path):
    texts = [f"text {n}" for n in range(50)]
    embed_items(side_of(texts), ENCODER, tmp_path / "store")
    texts[7] = "a rather longer text"
    store = embed_items(side_of(texts), ENCODER, tmp_path / "store")
    assert (np.asarray(store.vectors) == hashed(texts)).all()


def test_a_store_of_another_model_is_left_alone(tmp_path):
    texts = ["one", "two"]
    embed_items(side_of(texts), ENCODER, tmp_path / "store")
    before = contents(tmp_path / "store")
    with pytest.raises(DataError, match=r"holds vectors of callable:hashed \(\w{16}\), not callable:other"):
        embed_items(side_of(texts), FunctionEncoder(hashed, "callable:other"), tmp_path / "store")
    assert contents(tmp_path / "store") == before


def test_a_half_made_store_of_another_model_is_left_alone(tmp_path):
    def failing(texts):
        if "text 30" in texts:
            raise KeyboardInterrupt
        return hashed(texts)

    failing.__version__ = "1"
    texts = [f"text {n}" for n in range(50)]
    with pytest.raises(KeyboardInterrupt):
        embed_items(side_of(texts), FunctionEncoder(failing, "callable:failing"), tmp_path / "store", block=20)
    with pytest.raises(DataError, match="is being filled with vectors of callable:failing"):
        embed_items(side_of(texts), ENCODER, tmp_path / "store", block=20)
    mended = partial(hashed)
    mended.__version__ = "1"
    again = FunctionEncoder(mended, "callable:failing")
    store = embed_items(side_of(texts), again, tmp_path / "store", block=20)
    assert (np.asarray(store.vectors) == hashed(texts)).all()


def test_the_store_knows_its_texts_lengths(tmp_path):
    texts = ["one", "", "three words here"]
    store = embed_items(side_of(texts), ENCODER, tmp_path / "store", dtype="float16")
    assert store.ids == ["d0", "d1", "d2"]
    assert store.characters.tolist() == [3, 0, 16]
    assert store.tokens.tolist() == [-1, -1, -1]
    assert store.empty.tolist() == [False, True, False]
    assert store.vectors.dtype == np.float16
    assert isinstance(store.vectors, np.memmap)
    assert store.manifest.empty == 1


def test_a_store_shorter_than_its_manifest_is_refused(tmp_path):
    embed_items(side_of(["one", "two"]), ENCODER, tmp_path / "store")
    path = tmp_path / "store" / "vectors.npy"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(DataError, match=r"is truncated or damaged: it claims .* delete .*store and embed again"):
        open_store(tmp_path / "store")
    np.save(path, np.ones((3, 3), np.float32))
    with pytest.raises(DataError, match=r"its manifest says float32 \(2, 3\)"):
        open_store(tmp_path / "store")


def test_a_second_process_on_the_same_store_is_told(tmp_path):
    (tmp_path / "hashed.py").write_text(HASHED)
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "store"), "wait"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=environment_with(tmp_path), text=True, **pipes) as process:
        assert process.stdout.readline() == "a block\n"
        with pytest.raises(OffsphereError, match="another process is writing to"), locked(tmp_path / "store"):
            pass
        process.kill()
    with locked(tmp_path / "store"):  # a killed process holds no lock
        pass


def test_no_room_on_the_disk_leaves_a_store_that_goes_on(tmp_path):
    (tmp_path / "hashed.py").write_text(HASHED)
    # from the fourth block on, the system lets no file grow or be written beyond its first 10,000 bytes
    code = SCRIPT.replace("embed_items(side,", LIMITED + "embed_items(side,")
    first = run(tmp_path / "store", tmp_path, code=code)
    assert first.returncode != 0
    assert "no room left on the disk" in first.stderr
    assert run(tmp_path / "store", tmp_path).returncode == 0
    assert run(tmp_path / "whole", tmp_path).returncode == 0
    assert contents(tmp_path / "store") == contents(tmp_path / "whole")


@pytest.fixture
def task():
    documents = ItemList(["d0", "d1"], ["first document", "second one"])
    return RankingTask.build("small", ItemList(["q0"], ["a query"]), documents, [Judgment("q0", "d1", 1.0)])


def test_a_task_is_embedded_side_by_side(tmp_path, task):
    seen = []
    vectors = embed(task, ENCODER, tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert (np.asarray(vectors.documents) == hashed(task.document_texts)).all()
    assert (np.asarray(vectors.queries) == hashed(task.query_texts)).all()
    assert seen[-1] == (3, 3)
    assert load_vectors(tmp_path, task).documents.shape == (2, 3)


def test_pairs_are_embedded_too(tmp_path):
    task = PairTask("p", np.arange(3.0), ["a", "b", "c"], ["d", "e", "f"])
    assert (np.asarray(embed(task, ENCODER, tmp_path).right) == hashed(["d", "e", "f"])).all()


def test_texts_that_are_none_are_named(tmp_path, task):
    with pytest.raises(DataError, match="the text of document 'd1' is of type int, expected a string"):
        embed_items(side_of(["fine", 7]), ENCODER, tmp_path)
    with pytest.raises(DataError, match="has no texts to embed"):
        embed(RankingTask.from_judgments({"q": {"d": 1}}, ["d"]), ENCODER, tmp_path)
    with pytest.raises(DataError, match="float32 or float16"):
        embed(task, ENCODER, tmp_path, dtype="int8")


def test_vectors_that_are_not_finite_stop_the_run(tmp_path):
    spoiled = FunctionEncoder(lambda texts: np.full((len(texts), 2), np.nan if "bad" in texts else 1.0), "callable:bad")
    with pytest.raises(OffsphereError, match="gave vectors that are not finite"):
        embed_items(side_of(["good", "bad"]), spoiled, tmp_path)


def test_a_function_of_the_wrong_shape_is_named():
    with pytest.raises(OffsphereError, match=r"gave an array of shape \(3,\) for 1 texts"):
        FunctionEncoder(lambda texts: np.ones(3), "callable:wrong")


def test_the_command_says_what_it_did(tmp_path, real_data):
    result = run_command("embed", real_data / "cranfield", "--out", tmp_path / "v")
    assert result.returncode == 0, result.stderr
    assert "1,400 x 256 float32 by wordllama" in result.stdout
    assert "warning: 2 texts of documents are empty" in result.stderr
    assert Path(tmp_path / "v" / "documents" / "manifest.json").is_file()
