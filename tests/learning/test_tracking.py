"""Trackers follow a training only where they are asked to; TensorBoard's own reader reads what they were told."""

from __future__ import annotations

import json
import struct
import time

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import offsphere as osp
from offsphere.base.errors import MissingExtraError, UnknownNameError
from offsphere.learning.tracking import FOLDER
from tests.cli.running import run_here
from tests.processes import PATIENCE


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def embedded():
    rng = np.random.default_rng(0)
    documents = rng.standard_normal((60, 4)).astype(np.float32)
    judged = {f"q{row}": {f"d{row}": 1.0} for row in range(60)}
    task = osp.RankingTask.from_judgments(judged, [f"d{row}" for row in range(60)])
    return task, osp.RankingVectors.of(task, documents[:, ::-1].copy(), documents)


def told(folder):
    """What TensorBoard's reader finds in a folder: by name, the steps and the values."""
    events = EventAccumulator(str(folder)).Reload()
    rows = {name: events.Scalars(name) for name in events.Tags()["scalars"]}
    return {name: ([row.step for row in read], [row.value for row in read]) for name, read in rows.items()}


def static_model():
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, pre_tokenizers

    names = {"?": 0} | {f"w{number}": number for number in range(1, 41)}
    words = Tokenizer(models.WordLevel(names, unk_token="?"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return SentenceTransformer(modules=[StaticEmbedding(words, embedding_dim=8)], device="cpu")


def text_pairs():
    left, right = [f"w{row}" for row in range(1, 21)], [f"w{row + 20}" for row in range(1, 21)]
    return osp.PairTask("pairs", np.array([5.0, 5.0, 5.0, 0.0] * 5), left, right)


def test_nothing_is_tracked_unless_asked(embedded, tmp_path):
    osp.adapt(*embedded, batch=32, epochs=2)
    osp.train(text_pairs(), static_model(), batch=4, steps=2, rate=0.01)
    assert list(tmp_path.iterdir()) == []


def test_the_training_of_an_adapter_is_followed(embedded, tmp_path):
    adapter = osp.adapt(*embedded, batch=32, epochs=30, tracking=osp.Tracking(["tensorboard"], "first try"))
    run, scalars = adapter.record.run, told(tmp_path / "runs" / "first-try")
    steps, values = scalars["eval/held_out"]
    assert steps == [step for step, _, _ in run.history]
    np.testing.assert_allclose(values, [value for _, _, value in run.history], rtol=1e-6)
    steps, values = scalars["train/document_length"]
    assert steps == [row["step"] for row in adapter.record.dynamics]
    np.testing.assert_allclose(values, [row["document_length"] for row in adapter.record.dynamics], rtol=1e-6)


def test_the_training_of_an_encoder_is_followed_by_the_trainers_own_callback(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER, str(tmp_path / "mine"))
    trained = osp.train(
        text_pairs(), static_model(), batch=4, steps=3, rate=0.01, tracking=osp.Tracking(["tensorboard"], "static")
    )
    scalars = told(tmp_path / "mine" / "static")
    assert scalars["train/loss"][0][:3] == [1, 2, 3]
    metric = trained.record.metric
    np.testing.assert_allclose(
        scalars[f"eval/{metric}"][1], [value for _, _, value in trained.record.run.history[1:]], rtol=1e-5
    )
    assert "train/document_length" in scalars
    assert not (tmp_path / "runs").exists()


def held_out_of(adapter):
    """The steps and values that a training says it has measured."""
    steps, _, values = zip(*adapter.record.run.history, strict=True)
    return list(steps), list(values)


def test_mlflow_keeps_what_an_adapter_was_told_in_a_folder(embedded, tmp_path, monkeypatch):
    """Read by MLflow's own client; its package is in no extra of the tests, since it weighs more than all of these."""
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed: pip install 'offsphere[mlflow]'")
    address = (tmp_path / "store").as_uri()
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # which newer ones want to hear
    try:
        adapter = osp.adapt(*embedded, batch=32, epochs=30, tracking=osp.Tracking(["mlflow"], "first try"))
    finally:
        while mlflow.active_run() is not None:
            mlflow.end_run()
    client = mlflow.tracking.MlflowClient(address)
    (run,) = [run for each in client.search_experiments() for run in client.search_runs([each.experiment_id])]
    assert run.info.run_name == "first try"
    told_values = client.get_metric_history(run.info.run_id, "eval_held_out")
    steps, values = held_out_of(adapter)
    assert [row.step for row in told_values] == steps
    np.testing.assert_allclose([row.value for row in told_values], values, rtol=1e-6)


def logged(content):
    """The records of a file in the format of LevelDB's log, which begins with seven bytes of W&B's own."""
    place, parts = 7, []
    while place + 7 <= len(content):
        if 32_768 - place % 32_768 < 7:  # too little is left of a block for the head of a record
            place += 32_768 - place % 32_768
            continue
        _, length, kind = struct.unpack("<IHB", content[place : place + 7])
        if place + 7 + length > len(content):
            return  # it is still being written
        parts.append(content[place + 7 : place + 7 + length])
        place += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield b"".join(parts)
            parts = []


def ended(file, kind):
    """The records of a run, once the process that writes them has written the last."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        records = [kind.FromString(data) for data in logged(file.read_bytes())]
        if any(record.HasField("exit") for record in records):
            return records
        time.sleep(0.1)
    raise AssertionError(f"{file} has no end")


def test_wandb_keeps_what_an_adapter_was_told_on_disk_and_connects_to_nobody(embedded, tmp_path, monkeypatch):
    """Offline; what it keeps is read as records of its own protocol."""
    wandb = pytest.importorskip("wandb", reason="wandb is not installed: pip install 'offsphere[wandb]'")
    from wandb.proto.wandb_internal_pb2 import Record

    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.setenv("WANDB_SILENT", "true")
    adapter = osp.adapt(*embedded, batch=32, epochs=30, tracking=osp.Tracking(["wandb"], "first try"))
    wandb.finish()
    (file,) = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    records = ended(file, Record)
    assert {record.run.display_name for record in records if record.HasField("run")} == {"first try"}
    rows = [
        {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
        for record in records
        if record.HasField("history")
    ]
    measured = [(row["train/global_step"], row["eval/held_out"]) for row in rows if "eval/held_out" in row]
    steps, values = held_out_of(adapter)
    assert [step for step, _ in measured] == steps
    np.testing.assert_allclose([value for _, value in measured], values, rtol=1e-6)


def test_each_training_of_an_ablation_is_a_run(embedded, tmp_path):
    recipe = osp.Recipe(batch=32, epochs=2, hard_negatives=0)
    variants = [osp.Variant(name, recipe, [(0.05, 0.03)]) for name in ("cosine", "again")]
    osp.ablate(embedded, variants=variants, seeds=2, tracking=osp.Tracking(["tensorboard"], "grid"))
    runs = sorted(folder.name for folder in (tmp_path / "runs" / "grid").iterdir())
    assert len(runs) == 4
    assert runs[0].startswith("again")
    assert all("eval/held_out" in told(tmp_path / "runs" / "grid" / run) for run in runs)


@pytest.mark.parametrize("command", ["train", "adapt", "ablate", "sweep"])
def test_a_tracker_that_is_none_is_refused_before_anything_is_read(command, tmp_path):
    over = ["--over", "batch"] if command == "sweep" else []
    with pytest.raises(UnknownNameError, match="unknown tracker 'neptune': known: tensorboard, mlflow, wandb"):
        run_here(command, tmp_path, "--model", "wordllama", "--report-to", "neptune", *over)


def test_a_tracker_that_is_not_installed_is_told_with_what_to_install(monkeypatch):
    monkeypatch.setattr("offsphere.learning.tracking.is_installed", lambda name: False)
    with pytest.raises(MissingExtraError, match=r"'wandb': pip install 'offsphere\[wandb\]'"):
        osp.Tracking(["wandb"])
