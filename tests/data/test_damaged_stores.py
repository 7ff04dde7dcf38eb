"""Stores that are not as they were made: one line each, whatever is wrong, and never a wrong number."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offsphere as osp
from offsphere.base.errors import DataError, OffsphereError
from offsphere.data.store import read_manifest
from offsphere.data.store_writer import StoreWriter
from offsphere.encode.embedding import SideItems, default_folder, embed_items
from offsphere.encode.function import FunctionEncoder
from tests.data.test_store import PLAN, VECTORS, write
from tests.processes import run_command


def rows_of(texts):
    return [[len(text), text.count("e"), 1.0] for text in texts]


rows_of.__version__ = "1"
TEXTS = [f"text number {n} " * (n % 3 + 1) for n in range(20)]
SIDE = SideItems("document", [f"d{n}" for n in range(20)], TEXTS)
ENCODER = FunctionEncoder(rows_of, "rows")


def replace_by_folder(path):
    path.unlink()
    path.mkdir()


def change_manifest(**values):
    def change(folder):
        path = folder / "manifest.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | values))

    return change


def write_items(**columns):
    def change(folder):
        whole = {"id": list("abcde"), "characters": [1] * 5, "tokens": [1] * 5, "empty": [False] * 5} | columns
        pq.write_table(
            pa.table({name: part for name, part in whole.items() if part is not None}), folder / "ids.parquet"
        )

    return change


def break_header(folder):
    path = folder / "vectors.npy"
    path.write_bytes(path.read_bytes().replace(b"'shape': (5, 2)", b"'shape': (5, -2"))


DAMAGE = {
    "ids missing": lambda folder: (folder / "ids.parquet").unlink(),
    "ids a folder": lambda folder: replace_by_folder(folder / "ids.parquet"),
    "ids truncated": lambda folder: (folder / "ids.parquet").write_bytes(b"PAR1 and no more"),
    "ids of other columns": write_items(id=None, name=list("abcde")),
    "ids of numbers": write_items(id=[1, 2, 3, 4, 5]),
    "ids that are missing": write_items(id=["a", None, "c", "d", "e"]),
    "more ids": write_items(id=list("abcdef"), characters=[1] * 6, tokens=[1] * 6, empty=[True] * 6),
    "huge counts": write_items(characters=[2**40] * 5),
    "manifest garbage": lambda folder: (folder / "manifest.json").write_text("{"),
    "manifest a list": lambda folder: (folder / "manifest.json").write_text("[]"),
    "manifest of no fields": lambda folder: (folder / "manifest.json").write_text("{}"),
    "a text for the rows": change_manifest(rows="5"),
    "true for the rows": change_manifest(rows=True),
    "no dimensions": change_manifest(dimension=0),
    "fewer rows": change_manifest(rows=4),
    "rows without end": change_manifest(rows=2**70),
    "another type": change_manifest(dtype="int8"),
    "no type": change_manifest(dtype="nothing"),
    "an unknown side": change_manifest(side="above"),
    "an unknown field": change_manifest(more=1),
    "vectors missing": lambda folder: (folder / "vectors.npy").unlink(),
    "vectors a folder": lambda folder: replace_by_folder(folder / "vectors.npy"),
    "vectors of a broken header": break_header,
    "vectors of another type": lambda folder: np.save(folder / "vectors.npy", VECTORS.astype(">f4")),
}
SEALED = {
    "another model in the manifest": change_manifest(model="numberz"),
    "no digests": change_manifest(digests=None),
    "digests of other kinds": change_manifest(digests={"manifest": 1}),
    "checksums missing": lambda folder: (folder / "checksums.npy").unlink(),
    "checksums of another": lambda folder: np.save(folder / "checksums.npy", np.zeros((5, 1), np.uint32)),
    "other ids": write_items(),
    "one flipped bit": lambda folder: np.save(folder / "vectors.npy", VECTORS + np.eye(5, 2, dtype=np.float32) * 1e-3),
}


@pytest.mark.parametrize("what", [*DAMAGE, *SEALED])
def test_a_damaged_store_is_one_line(tmp_path, what):
    write(tmp_path / "store", 3)
    (DAMAGE | SEALED)[what](tmp_path / "store")
    with pytest.raises(OffsphereError) as refused:
        osp.open_store(tmp_path / "store")
    assert str(tmp_path / "store") in str(refused.value)


def make_old(folder):
    """What offsphere wrote before there were digests."""
    path = folder / "manifest.json"
    values = json.loads(path.read_text())
    del values["digests"]
    path.write_text(json.dumps(values))
    (folder / "checksums.npy").unlink()


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_store_of_an_older_version_is_one_line_too(tmp_path, what):
    write(tmp_path / "store", 3)
    make_old(tmp_path / "store")
    DAMAGE[what](tmp_path / "store")
    with pytest.raises(OffsphereError):
        osp.open_store(tmp_path / "store")


def test_a_store_of_an_older_version_is_read_as_before(tmp_path):
    write(tmp_path / "store", 3)
    make_old(tmp_path / "store")
    store = osp.open_store(tmp_path / "store")
    assert (store.digests, store.ids) == (None, list("abcde"))
    np.testing.assert_array_equal(store.vectors, VECTORS)


def test_ids_are_read_once(tmp_path):
    store = write(tmp_path / "store", 3)
    assert store.ids is store.ids
    assert store.tokens.tolist() == [1, 2, 3, 4, -1]
    (tmp_path / "store" / "ids.parquet").unlink()
    assert store.tokens.tolist() == [1, 2, 3, 4, -1]
    assert len(store.ids) == 5


def flip(path, byte=-1):
    content = bytearray(path.read_bytes())
    content[byte] ^= 1
    path.write_bytes(content)


def test_a_flipped_bit_stops_every_command_that_reads_vectors_unless_told_otherwise(tmp_path):
    lines = "".join(f"text number {n},another {n % 3},{n % 4}\n" for n in range(12))
    (tmp_path / "pairs.csv").write_text(f"sentence1,sentence2,score\n{lines}")
    osp.embed(osp.load_task(tmp_path / "pairs.csv"), "wordllama", tmp_path / "v")
    flip(tmp_path / "v" / "right-pairs" / "vectors.npy", -9)
    for command in ("compare", "measure", "audit"):
        given = (command, tmp_path / "pairs.csv", "--vectors", tmp_path / "v", "--json")
        result = run_command(*given)
        assert result.returncode == 2
        assert "the vector of '11' (row 11) is not the one that was stored" in result.stderr
        assert result.stderr.count("\n") == 1
    assert run_command("measure", tmp_path / "v" / "right-pairs").returncode == 2
    assert run_command("data", "export", tmp_path / "v" / "right-pairs", tmp_path / "x.npy").returncode == 2
    assert run_command("measure", tmp_path / "v" / "right-pairs", "--no-verify", "--section", "lengths").returncode == 0
    given = ("compare", tmp_path / "pairs.csv", "--vectors", tmp_path / "v", "--scorer", "dot", "--json")
    assert run_command(*given, "--no-verify").returncode == 0


def interrupted(folder, blocks=2):
    """Leave a store after some of its four blocks."""
    calls = []

    def stopping(texts):
        calls.append(len(texts))
        if len(calls) > blocks + 1:
            raise KeyboardInterrupt
        return rows_of(texts)

    stopping.__version__ = "1"
    with pytest.raises(KeyboardInterrupt) as stop:
        embed_items(SIDE, FunctionEncoder(stopping, "rows"), folder, block=5)
    return stop.value


def test_an_interruption_says_what_is_safe(tmp_path):
    stop = interrupted(tmp_path / "store")
    assert stop.__notes__ == [
        f"2 of 4 blocks of {tmp_path / 'store'} are safe: run the same command again, it goes on from there"
    ]


def other_size(path):
    np.save(path, np.zeros((3, 3), np.float32))


UNFINISHED = {
    "progress empty": lambda folder: (folder / ".progress.json").write_text("{}"),
    "progress garbage": lambda folder: (folder / ".progress.json").write_bytes(b"\x00\xff garbage"),
    "progress of other types": lambda folder: (folder / ".progress.json").write_text('{"plan": 3, "done": "x"}'),
    "more done than was": lambda folder: (folder / ".progress.json").write_text(
        (folder / ".progress.json").read_text().replace('"done": 2', '"done": 3')
    ),
    "rows of another size": lambda folder: other_size(folder / ".vectors.partial.npy"),
    "rows truncated": lambda folder: (folder / ".vectors.partial.npy").write_bytes(b"\x93NUMPY"),
    "rows missing": lambda folder: (folder / ".vectors.partial.npy").unlink(),
    "checksums missing": lambda folder: (folder / ".checksums.partial.npy").unlink(),
    "nothing at all": lambda folder: None,
}


@pytest.mark.parametrize("what", UNFINISHED)
def test_an_unfinished_store_that_cannot_be_gone_on_with_is_begun_anew(tmp_path, what):
    interrupted(tmp_path)
    UNFINISHED[what](tmp_path)
    store = embed_items(SIDE, ENCODER, tmp_path, block=5)
    store.verify()
    np.testing.assert_array_equal(store.vectors, np.array(rows_of(TEXTS), np.float32))
    names = {path.name for path in tmp_path.iterdir()} - {".lock"}
    assert names == {"vectors.npy", "checksums.npy", "ids.parquet", "manifest.json"}


def test_rows_that_changed_after_an_interruption_are_noticed_and_made_again(tmp_path):
    interrupted(tmp_path)
    path = tmp_path / ".vectors.partial.npy"
    offset = len(path.read_bytes()) - 20 * 3 * 4
    flip(path, offset + 7)
    with pytest.raises(DataError, match=r"was damaged since \(row 0\): run the same command again, it begins anew"):
        embed_items(SIDE, ENCODER, tmp_path, block=5)
    store = embed_items(SIDE, ENCODER, tmp_path, block=5)
    np.testing.assert_array_equal(store.vectors, np.array(rows_of(TEXTS), np.float32))


@pytest.mark.parametrize(
    "name", [".progress.json", ".vectors.partial.npy", ".checksums.partial.npy", "vectors.npy", "ids.parquet", ".lock"]
)
def test_a_folder_where_a_file_belongs_is_one_line(tmp_path, name):
    (tmp_path / "store" / name).mkdir(parents=True)
    with pytest.raises(OffsphereError, match="cannot write"):
        embed_items(SIDE, ENCODER, tmp_path / "store")


def test_a_kill_while_a_store_is_begun_leaves_nothing_that_looks_safe(tmp_path, monkeypatch):
    """Rows of zeros once took the place of safe ones before the note of those was gone."""
    interrupted(tmp_path)
    monkeypatch.setattr("offsphere.data.store_writer._make_room", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        embed_items(SIDE, ENCODER, tmp_path, block=7)  # another plan begins anew, and is killed there
    assert not (tmp_path / ".progress.json").exists()


WIDE, TALL = np.ones((2, 3), np.float32), np.ones((3, 2), np.float32)
HUGE = np.full((2, 2), 1e300)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (WIDE, r"gave vectors of shape \(2, 3\), expected \(2, 2\)"),
        (TALL, r"gave vectors of shape \(3, 2\), expected \(2, 2\)"),
        (np.ones(4, np.float32), r"gave vectors of shape \(4,\)"),
        (HUGE, r"gave vectors with 1e\+300 in them, which is more than float32 can hold$"),
        (np.full((2, 2), np.inf), "gave vectors that are not finite"),
        (np.ones((2, 2), int), "gave vectors of int64, expected floats"),
    ],
)
def test_the_writer_takes_nothing_that_would_not_be_read_back(tmp_path, vectors, message):
    writer = StoreWriter(tmp_path, PLAN, 3)
    with pytest.raises(OffsphereError, match=message):
        writer.write(np.array([0, 1]), vectors)
    assert writer.done == 0


def test_texts_and_ids_that_cannot_be_stored_are_named(tmp_path):
    def refused(ids, texts, **more):
        with pytest.raises(OffsphereError) as error:
            embed_items(SideItems("document", ids, texts), ENCODER, tmp_path / "store", **more)
        return str(error.value)

    assert "'b' has a lone surrogate" in refused(["a", "b"], ["fine", "half \ud800"])
    assert "has a lone surrogate" in refused(["a\udc00"], ["fine"])
    assert "the document id 7 is of type int" in refused([7], ["fine"])
    assert "2 document texts and 1 ids" in refused(["a"], ["fine", "too"])
    for block in (0, -1, 2.5):
        assert f"block = {block}" in refused(["a"], ["fine"], block=block)
    for dtype in ("int8", "float64", "", "nothing"):
        assert "float32 or float16" in refused(["a"], ["fine"], dtype=dtype)
    assert not (tmp_path / "store").exists()


def test_a_name_longer_than_a_name_may_be_is_cut_and_stays_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    one, other = (default_folder("é" * 300, f"model {n}") for n in (1, 2))
    assert one != other
    one.mkdir(parents=True)
    assert default_folder("scifact", "wordllama").name == "scifact--wordllama"


def test_a_store_that_was_moved_is_still_whole(tmp_path):
    embed_items(SIDE, ENCODER, tmp_path / "store")
    shutil.move(tmp_path / "store", tmp_path / "elsewhere")
    assert osp.open_store(tmp_path / "elsewhere").ids == list(SIDE.ids)
    assert read_manifest(tmp_path / "elsewhere").rows == 20
