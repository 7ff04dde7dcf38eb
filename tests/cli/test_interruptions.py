"""Ctrl-C in the middle of each command that takes long: what is said to be kept is there, and the next run uses it."""

from __future__ import annotations

import importlib
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from offsphere.cli import app
from offsphere.cli.endings import Interrupted
from offsphere.engines.deployed.live_collection import LiveCollection
from offsphere.engines.files.exchange import import_vectors
from tests.cli.running import run_here
from tests.kills.commands import files_of, write_ranking, write_words
from tests.processes import PATIENCE, environment_with

ROWS = np.random.default_rng(0).standard_normal((40_000, 3)).astype(np.float32)  # three blocks
GOES_ON = "run the same command again, it goes on from there"


class Calls:
    """Counts the calls of a method, and presses Ctrl-C in one of them."""

    def __init__(self, monkeypatch, where, *, stop=None):
        module, _, name = where.partition(":")
        *owners, method = name.split(".")
        owner = importlib.import_module(module)
        for one in owners:
            owner = getattr(owner, one)
        original, self.count = getattr(owner, method), 0

        def counted(*args, **options):
            self.count += 1
            if self.count == stop:
                raise KeyboardInterrupt
            return original(*args, **options)

        monkeypatch.setattr(owner, method, counted)


@pytest.fixture
def press(monkeypatch):
    """Runs a command until a call of some function, and gives what is said then; or counts its calls to the end."""

    def until(call, where, *arguments):
        with monkeypatch.context() as patched:
            calls = Calls(patched, where, stop=call)
            result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert isinstance(result.exception, Interrupted), result.output
        assert calls.count == call
        return "; ".join(result.exception.args)

    return until


@pytest.fixture
def calls_of(monkeypatch):
    def count(where, *arguments):
        with monkeypatch.context() as patched:
            calls = Calls(patched, where)
            run_here(*arguments)
        return calls.count

    return count


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    np.save(folder / "v.npy", ROWS)
    return import_vectors(str(folder / "v.npy"), folder / "store").folder


WRITE = "offsphere.data.store_writer:StoreWriter.write"


def test_an_import_goes_on_with_the_blocks_that_are_safe(tmp_path, store, press, calls_of):
    np.save(tmp_path / "v.npy", ROWS)
    typed = ("data", "import", tmp_path / "v.npy", tmp_path / "store")
    blocks = calls_of(WRITE, *typed[:-1], tmp_path / "whole")
    assert blocks > 2
    said = press(blocks - 1, WRITE, *typed)
    assert said.startswith(f"{blocks - 2} of {blocks} blocks of {tmp_path / 'store'} are safe: run the same command")
    assert calls_of(WRITE, *typed) == 2
    assert files_of(tmp_path / "store") == files_of(tmp_path / "whole")


@pytest.mark.parametrize("suffix", ["npy", "npz", "parquet", "safetensors"])
def test_an_export_to_a_file_leaves_nothing_and_begins_anew(tmp_path, store, press, suffix):
    said = press(1, "os:fsync", "data", "export", store, tmp_path / f"v.{suffix}")
    assert said == f"nothing was written to {tmp_path / f'v.{suffix}'}: the same command begins it anew"
    assert list(tmp_path.iterdir()) == []
    run_here("data", "export", store, tmp_path / f"v.{suffix}")
    assert (tmp_path / f"v.{suffix}").is_file()


ADD = "offsphere.engines.sqlite:SqliteCollection.add"


def sqlite_rows(path):
    live = LiveCollection.read(f"sqlite:{path}:things")
    return dict(zip(live.ids, np.asarray(live.vectors).tolist(), strict=True))


def test_an_export_to_a_collection_without_a_record_begins_anew(tmp_path, store, press):
    pytest.importorskip("apsw", reason="apsw, with which SQLite loads its vectors, is not installed")
    typed = ("data", "export", store, f"sqlite:{tmp_path}/v.db:things")
    assert press(2, ADD, *typed) == f"sqlite:{tmp_path}/v.db:things is unfinished: the same command begins it anew"
    run_here(*typed)
    assert sqlite_rows(tmp_path / "v.db") == {str(row): vector for row, vector in enumerate(ROWS.tolist())}


def test_a_scorer_that_is_shipped_goes_on_from_its_record(tmp_path, store, press, calls_of):
    pytest.importorskip("apsw", reason="apsw, with which SQLite loads its vectors, is not installed")
    typed = ("export", "dot", "--vectors", store, "--to", f"sqlite:{tmp_path}/v.db:things", "--out", tmp_path / "out")
    said = press(3, ADD, *typed)
    assert said == f"32,768 vectors are in sqlite:{tmp_path}/v.db:things: the same command goes on from there"
    assert calls_of(ADD, *typed) == 1
    stored = sqlite_rows(tmp_path / "v.db")  # with a number more, by which distances rank as the dot product does
    assert {name: vector[:3] for name, vector in stored.items()} == {str(n): v for n, v in enumerate(ROWS.tolist())}


def test_an_index_that_is_built_in_memory_leaves_nothing(tmp_path, store, press):
    pytest.importorskip("faiss", reason="faiss is not installed")
    typed = ("export", "dot", "--vectors", store, "--to", f"faiss:{tmp_path}/v.faiss", "--out", tmp_path / "out")
    said = press(3, "offsphere.engines.faiss:FaissCollection.add", *typed)
    assert said == f"nothing was written to faiss:{tmp_path}/v.faiss: the same command begins it anew"
    assert not list(tmp_path.glob("*.faiss*"))
    run_here(*typed)


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    pytest.importorskip("sentence_transformers", reason="sentence-transformers, which trains, is not installed")
    folder = tmp_path_factory.mktemp("words")
    write_words(folder)
    return folder


LOSS = "offsphere.learning.encoders.contrastive:ContrastiveLoss.forward"


def test_a_training_goes_on_from_its_last_checkpoint(tmp_path, words, press, calls_of):
    typed = ["train", words, "--model", words / "model", "--steps", 8, "--batch", 8]
    typed += ["--set", "evaluate_every=3", "--out"]
    whole = calls_of(LOSS, *typed, tmp_path / "whole")
    said = press(whole, LOSS, *typed, tmp_path / "out")
    assert said == f"the checkpoints so far are in {tmp_path / 'out'}: {GOES_ON}"
    assert calls_of(LOSS, *typed, tmp_path / "out") < whole / 2
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


def test_a_sweep_goes_on_with_the_values_that_were_not_trained(tmp_path, words, press, calls_of):
    typed = ["sweep", words, "--model", words / "model", "--over", "temperature", "--values", "0.05,0.5", "--steps", 2]
    typed += ["--set", "batch=8", "--out"]
    whole = calls_of(LOSS, *typed, tmp_path / "whole")
    said = press(whole, LOSS, *typed, tmp_path / "out")
    assert said == f"the values trained so far are in {tmp_path / 'out'}: {GOES_ON}"
    assert calls_of(LOSS, *typed, tmp_path / "out") == whole / 2


AUDIT = "offsphere.auditing.study.run_study:audit"


def test_a_study_goes_on_with_the_cells_that_were_not_audited(tmp_path, press, calls_of):
    for seed in ("one", "other"):
        (tmp_path / seed).mkdir()
        write_ranking(tmp_path / seed, queries=20, documents=60)
    typed = ["study", *(f"{tmp_path / name}={tmp_path / name}" for name in ("one", "other")), "--out", tmp_path / "out"]
    said = press(2, AUDIT, *typed)
    assert said == f"what was audited so far is in {tmp_path / 'out'}: {GOES_ON}"
    assert calls_of(AUDIT, *typed) == 1
    assert (tmp_path / "out" / "study.json").is_file()


WARNING = """
import os, signal, warnings, numpy as np
def rows(texts):
    warnings.warn("a library's own words")
    np.float32(1e38) * np.float32(1e38)
    if any("stop" in text for text in texts):
        os.killpg(os.getpgid(0), signal.SIGINT)  # as a terminal does
        signal.pause()
    return [[len(text), sum(map(ord, text)) % 97, 1.0] for text in texts]
"""


def test_processes_that_share_a_study_neither_warn_nor_complain_of_an_interruption(tmp_path):
    (tmp_path / "warning_model.py").write_text(WARNING)
    for name in ("one", "stop"):
        rows = "".join(f"{n % 5},{name} {n},blue {n % 7}\n" for n in range(12))
        (tmp_path / f"{name}.csv").write_text(f"score,sentence1,sentence2\n{rows}")
    typed = ["study", "one.csv", "stop.csv", "--model", "callable:warning_model:rows", "--jobs", "2", "--out", "out"]
    result = subprocess.run(
        [sys.executable, "-m", "offsphere", *typed],
        cwd=tmp_path,
        env={**environment_with(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=PATIENCE,
        check=False,
    )
    assert result.returncode == 130, result.stderr
    assert result.stderr == f"offsphere: stopped; what was audited so far is in out: {GOES_ON}\n"
