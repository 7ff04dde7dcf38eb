"""Stores: filled block by block, finished whole, written by one process at a time."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import DataError, OffsphereError
from offsphere.data.store import Manifest, is_store
from offsphere.data.store_writer import StoreWriter, locked
from tests.processes import PATIENCE

PLAN = Manifest(
    model="numbers",
    revision="1",
    dimension=2,
    rows=5,
    dtype="float32",
    side="document",
    prompt="",
    similarity=None,
    normalization_removed=[],
    normalization_kept=False,
    texts="",
    ids="",
    empty=1,
    version="0",
)
VECTORS = np.arange(10, dtype=np.float32).reshape(5, 2)
BLOCKS = [np.array([4, 0]), np.array([1, 2]), np.array([3])]


def write(folder, blocks):
    """Write some of the blocks, and finish the store where they are all there."""
    folder.mkdir(exist_ok=True)
    writer = StoreWriter(folder, PLAN, len(BLOCKS))
    for rows in BLOCKS[writer.done : blocks]:
        writer.write(rows, VECTORS[rows])
    if writer.done < len(BLOCKS):
        return writer.done
    tokens = np.array([1, 2, 3, 4, -1], np.int32)
    return writer.finish(list("abcde"), np.array([5, 4, 3, 2, 0]), tokens, np.array([False] * 4 + [True]))


def test_a_store_goes_on_from_the_blocks_that_are_safe(tmp_path):
    assert write(tmp_path, 1) == 1
    assert not is_store(tmp_path)
    with pytest.raises(DataError, match=r"is no finished store: it has no manifest\.json"):
        osp.open_store(tmp_path)
    assert write(tmp_path, 1) == 1  # nothing is written again
    store = write(tmp_path, 3)
    assert (store.vectors == VECTORS).all()
    assert isinstance(store.vectors, np.memmap)
    assert store.ids == list("abcde")
    assert store.characters.tolist() == [5, 4, 3, 2, 0]
    assert store.tokens.tolist() == [1, 2, 3, 4, -1]
    assert store.empty.tolist() == [False] * 4 + [True]
    manifest = json.loads((tmp_path / "manifest.json").read_bytes())
    assert set(manifest.pop("digests")) == {"checksums", "items", "manifest"}
    assert manifest == asdict(PLAN)
    files = ["checksums.npy", "ids.parquet", "manifest.json", "vectors.npy"]
    assert sorted(path.name for path in tmp_path.iterdir()) == files


def test_a_store_says_which_vectors_it_will_not_take(tmp_path):
    tmp_path.joinpath("store").mkdir()
    writer = StoreWriter(tmp_path / "store", PLAN, 1)
    with pytest.raises(OffsphereError, match="the model numbers gave vectors that are not finite"):
        writer.write(np.array([0]), np.array([[np.nan, 0]]))


def test_a_second_writer_is_told_at_once(tmp_path):
    with locked(tmp_path / "store"), pytest.raises(OffsphereError) as refused, locked(tmp_path / "store"):
        pass
    assert str(refused.value) == (
        f"another process is writing to {tmp_path / 'store'}: wait for it, or choose another --out"
    )
    with locked(tmp_path / "store"):  # nobody waited for the lock, and after that it is free
        pass


def test_a_killed_process_holds_no_lock(tmp_path):
    code = f"""
import time
from pathlib import Path
from offsphere.data.store_writer import locked
with locked(Path({str(tmp_path)!r})):
    print("locked", flush=True)
    time.sleep({PATIENCE})
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "locked\n"
    with pytest.raises(OffsphereError, match="another process is writing to"), locked(tmp_path):
        pass
    process.kill()
    process.communicate()
    with locked(tmp_path):
        pass


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OffsphereError, match=r"cannot write to .*file: File exists"), locked(tmp_path / "file"):
        pass
    (tmp_path / "store" / ".lock").mkdir(parents=True)
    with pytest.raises(OffsphereError, match=r"cannot write to .*store: Is a directory"), locked(tmp_path / "store"):
        pass
