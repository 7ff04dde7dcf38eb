"""Vectors and tasks that lie elsewhere: compared and measured to the last bit as those here, in ranges of bytes."""

from __future__ import annotations

import json
from pathlib import Path

import fsspec
import numpy as np
import pytest

import offsphere as osp
from offsphere import CompareOptions, compare, compare_shards, embed, measure, measure_shards
from offsphere.base.errors import ParameterError
from offsphere.base.remote_path import given_path
from offsphere.data.vector_files import read_vectors, take_rows
from offsphere.encode.function import FunctionEncoder
from tests.cli.running import printed
from tests.runners.corpora import SCORERS, Backwards, write_corpus, write_texts

OPTIONS = CompareOptions(scorers=list(SCORERS))
WIDTH, DOCUMENTS = 6, 9_000


class Elsewhere:
    """A folder of this machine as it lies elsewhere, and how many bytes of which file are read there."""

    def __init__(self, scheme, monkeypatch):
        self.scheme, self.read = scheme, {}
        system = type(fsspec.filesystem(scheme))
        opened = system._open

        def watched(this, path, mode="rb", **how):
            return (
                Watched(opened(this, path, mode, **how), self.read, str(path))
                if mode == "rb"
                else opened(this, path, mode, **how)
            )

        monkeypatch.setattr(system, "_open", watched)
        monkeypatch.setattr(system, "cat_file", fsspec.AbstractFileSystem.cat_file)  # which opens the file

    def put(self, folder):
        """The address of a folder."""
        if self.scheme == "memory":
            system, place = fsspec.filesystem("memory"), f"/{folder.parent.name}/{folder.name}"
            if system.exists(place):
                system.rm(place, recursive=True)
            system.put(str(folder), place, recursive=True)
            return f"memory://{folder.parent.name}/{folder.name}"
        return f"file://{folder}"

    def bytes_of(self, ending):
        return sum(count for name, count in self.read.items() if name.endswith(ending))


class Watched:
    """An open file whose reads are counted."""

    def __init__(self, file, read, name):
        self.file, self.seen, self.name = file, read, name

    def count(self, content):
        self.seen[self.name] = self.seen.get(self.name, 0) + len(content)
        return content

    def read(self, *size):
        return self.count(self.file.read(*size))

    def readinto(self, buffer):
        content = self.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def __getattr__(self, name):
        return getattr(self.file, name)


@pytest.fixture(params=["memory", "file"])
def elsewhere(request, monkeypatch):
    yield Elsewhere(request.param, monkeypatch)
    fsspec.filesystem("memory").store.clear()


@pytest.mark.parametrize("kind", ["npy", "safetensors", "parquet"])
def test_a_shard_reads_the_bytes_of_its_own_rows(tmp_path, elsewhere, kind):
    width = 64 if kind == "parquet" else WIDTH
    write_corpus(tmp_path / "data", DOCUMENTS, width=width, parts=3, kind=kind)
    path = tmp_path / "data" / "documents"
    address = given_path(elsewhere.put(tmp_path / "data")) / "documents"
    file = read_vectors(address, lazy=True)
    elsewhere.read.clear()
    rows = take_rows(file, range(2_900, 3_300))
    asked = sum(elsewhere.read.values())
    assert np.array_equal(rows, np.asarray(read_vectors(path).vectors)[2_900:3_300])
    if kind == "parquet":  # the groups of 700 rows in which they lie, packed, and the footers of their files
        assert asked < sum(part.stat().st_size for part in path.glob("*.parquet")) / 3
    else:
        assert asked == 400 * WIDTH * 4
    assert {name.rpartition("/")[2].partition(".")[0] for name in elsewhere.read} == {
        "00001-of-00003",
        "00002-of-00003",
    }


@pytest.mark.parametrize("kind", ["npy", "safetensors", "parquet"])
def test_compared_and_measured_elsewhere_is_compared_and_measured_here(tmp_path, elsewhere, kind):
    source = write_corpus(tmp_path / "data", DOCUMENTS, parts=3, kind=kind)
    address = elsewhere.put(tmp_path / "data")
    there = osp.EmbeddedSource(f"{address}/qrels.tsv", vectors=address)
    wanted = compare(*source.load(), list(SCORERS)).to_json()
    assert compare(*there.load(), list(SCORERS)).to_json() == wanted
    assert compare_shards(there, OPTIONS, shards=3, runner=Backwards()).to_json() == wanted
    shape = measure_shards(f"{address}/documents", shards=2).to_json()
    assert shape == measure_shards(tmp_path / "data" / "documents", shards=2).to_json()


def test_every_pass_over_shards_reads_every_byte_once(tmp_path, elsewhere):
    write_corpus(tmp_path / "data", DOCUMENTS, width=WIDTH, parts=3)
    address = elsewhere.put(tmp_path / "data")
    there = osp.EmbeddedSource(f"{address}/qrels.tsv", vectors=address)
    headers = 3 * 128  # of three parts
    compare_shards(there, OPTIONS, shards=3)
    read = elsewhere.bytes_of("00003.npy")
    whole = DOCUMENTS * WIDTH * 4
    # a shard fits the blocks that begin in it, which reach into the next; and parts are opened for their ids
    assert 2 * whole <= read <= 3 * whole + 20 * headers
    elsewhere.read.clear()
    measure_shards(f"{address}/documents", shards=2)
    assert elsewhere.bytes_of("00003.npy") == pytest.approx(whole, abs=20 * headers)


def test_stores_elsewhere_are_compared_with_their_digests(tmp_path, elsewhere):
    task = osp.load_task(write_texts(tmp_path / "task"))
    encoder = FunctionEncoder(lambda texts: [[len(text), text.count("c") + 1.0, 1.0] for text in texts], "letters")
    embed(task, encoder, tmp_path / "vectors")
    data, vectors = elsewhere.put(tmp_path / "task"), elsewhere.put(tmp_path / "vectors")
    there = osp.EmbeddedSource(data, vectors=vectors)
    here = osp.EmbeddedSource(str(tmp_path / "task"), vectors=tmp_path / "vectors")
    table = compare(*here.load(), ["dot"]).to_json()
    assert compare(*there.load(), ["dot"]).to_json() == table
    assert compare_shards(there, CompareOptions(scorers=["dot"]), shards=1).to_json() == table
    stored = read_vectors(given_path(vectors) / "documents")
    assert measure(stored).to_json() == measure(read_vectors(tmp_path / "vectors" / "documents")).to_json()
    name = tmp_path / "vectors" / "documents" / "vectors.npy"
    content = bytearray(name.read_bytes())
    content[-1] ^= 1
    name.write_bytes(content)
    elsewhere.put(tmp_path / "vectors")
    with pytest.raises(osp.OffsphereError, match=r"vectors\.npy is damaged: the vector of 'd299'"):
        compare_shards(there, CompareOptions(scorers=["dot"]), shards=1)


def test_texts_elsewhere_are_embedded_here_and_never_there(tmp_path, elsewhere):
    write_texts(tmp_path / "task")
    address = elsewhere.put(tmp_path / "task")
    here, there = (osp.load_task(name) for name in (tmp_path / "task", address))
    assert there.document_ids == here.document_ids
    assert list(there.document_texts) == list(here.document_texts)
    with pytest.raises(ParameterError, match="is read, not written: let the model write to a folder here"):
        osp.EmbeddedSource(address, "wordllama", vectors=f"{address}/vectors").load()


def test_by_the_command_line(tmp_path, elsewhere):
    write_corpus(tmp_path / "data", 3_000, parts=2)
    address = elsewhere.put(tmp_path / "data")
    there = ("compare", f"{address}/qrels.tsv", "--vectors", address, "--scorer", "dot", "--json")
    here = ("compare", tmp_path / "data" / "qrels.tsv", "--vectors", tmp_path / "data", "--scorer", "dot", "--json")
    wanted = json.loads(printed(*here))
    assert json.loads(printed(*there)) == wanted
    assert json.loads(printed(*there, "--on", "local", "--shards", 2)) == wanted
    states = [tmp_path / f"state-{number}" for number in (1, 2)]
    for number, state in enumerate(states, start=1):
        printed("measure", f"{address}/documents", "--shard", f"{number}/2", "--state", state)
    merged = json.loads(printed("merge", *states, "--json"))
    assert merged == json.loads(printed("measure", f"{address}/documents", "--on", "local", "--shards", 2, "--json"))
    assert not Path(f"{elsewhere.scheme}:").exists()
