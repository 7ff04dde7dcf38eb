"""Trackers follow a training only where they are asked to; TensorBoard's own reader reads what they were told."""

from __future__ import annotations

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import offsphere as osp
from offsphere.base.errors import MissingExtraError, UnknownNameError
from offsphere.learning.tracking import FOLDER
from tests.cli.running import run_here


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
