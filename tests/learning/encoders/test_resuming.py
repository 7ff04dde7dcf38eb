"""A training that is killed, or has no room to write: it goes on, and ends as if nothing had happened."""

from __future__ import annotations

import json
from functools import cache

import pytest
import torch
from safetensors.torch import load_file

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.learning.encoders import train_encoder
from offsphere.learning.encoders.encoder_dynamics import Dynamics
from tests.learning.encoders.trainings import TRAIN, load, load_static, run_script


@pytest.fixture(scope="module")
def whole(dropout_folder, tmp_path_factory):
    """The folder of a training that nothing stopped, by its recipe; each is run once, in a process started anew."""

    @cache
    def trained(recipe):
        folder = tmp_path_factory.mktemp(recipe) / "whole"
        run_script(TRAIN, dropout_folder, folder, 0, 0, recipe, cold=True)
        return folder

    return trained


# two of the ten slowest: what they are compared with is trained in a process that imports torch for itself
@pytest.mark.parametrize("recipe", ["magnitude", pytest.param("moco", marks=pytest.mark.slow)])
def test_a_killed_training_goes_on_and_ends_in_the_same_weights(recipe, whole, dropout_folder, tmp_path):
    """With dropout, learned exponents, a queue: everything that could be lost."""
    options = [0, recipe]
    killed = run_script(TRAIN, dropout_folder, tmp_path / "killed", 11, *options, ok=False)
    assert killed.returncode == -9
    assert (tmp_path / "killed" / "checkpoints" / "checkpoint-8" / "offsphere.json").is_file()
    run_script(TRAIN, dropout_folder, tmp_path / "killed", 0, *options)
    assert_same_training(whole(recipe), tmp_path / "killed")


def assert_same_training(first, second):
    states = [load_file(next(folder.rglob("model.safetensors"))) for folder in (first, second)]
    assert set(states[0]) == set(states[1])
    for name, value in states[0].items():
        assert torch.equal(value, states[1][name]), name
    records = [json.loads((folder / "training.json").read_text()) for folder in (first, second)]
    for key in ("history", "best", "best_step", "steps", "cosine"):
        assert str(records[0]["runs"][0][key]) == str(records[1]["runs"][0][key])
    import pyarrow.parquet as pq

    tables = [pq.read_table(folder / "dynamics.parquet").to_pylist() for folder in (first, second)]
    assert str(tables[0]) == str(tables[1])
    assert not (second / "checkpoints").exists()


def test_a_disk_that_is_full_keeps_the_checkpoint_before(whole, dropout_folder, tmp_path):
    full = run_script(TRAIN, dropout_folder, tmp_path / "full", 0, 10, ok=False)
    assert full.returncode == 1
    assert "checkpoint-8 is whole" in full.stderr
    assert "goes on from there" in full.stderr
    run_script(TRAIN, dropout_folder, tmp_path / "full", 0, 0)
    assert_same_training(whole("magnitude"), tmp_path / "full")


@pytest.mark.parametrize("moment", [(Dynamics, "on_train_end"), (train_encoder, "settle")])
@pytest.mark.parametrize("stop", ["worn out", pytest.param("last step", marks=pytest.mark.slow)])
def test_a_training_that_was_killed_after_its_last_step_is_not_gone_on_with(
    words, dropout_folder, tmp_path, stop, moment
):
    """It was killed after its last checkpoint, or while the test corpus was encoded; run again, it knows it is done."""
    options = {"steps": 8, "batch": 16, "evaluate_every": 2, "dynamics_every": 50, "seed": 1}
    options |= {"patience": 1, "rate": 1e-9} if stop == "worn out" else {"patience": 9, "rate": 1e-3}
    whole = osp.train(words, load(dropout_folder), tmp_path / "whole", **options)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(*moment, killed)
        with pytest.raises(KeyboardInterrupt):
            osp.train(words, load(dropout_folder), tmp_path / "killed", **options)
    again = osp.train(words, load(dropout_folder), tmp_path / "killed", **options)
    assert again.record.run.steps == whole.record.run.steps
    assert again.record.run.stopped == whole.record.run.stopped
    assert str(again.record.dynamics) == str(whole.record.dynamics)
    for name, value in whole.model.state_dict().items():
        assert torch.equal(value, again.model.state_dict()[name]), name


@pytest.mark.parametrize("moment", [(train_encoder, "write_whole"), (train_encoder, "remove_checkpoints")])
def test_a_training_that_was_killed_while_it_saved_its_model_saves_it_again(words, tmp_path, moment):
    """Some files of the model are there, and so are all checkpoints: it is not taken for finished."""
    options = {"steps": 4, "batch": 16, "evaluate_every": 2, "dynamics_every": 0}
    osp.train(words, load_static(), tmp_path / "whole", **options)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(*moment, killed)
        with pytest.raises(KeyboardInterrupt):
            osp.train(words, load_static(), tmp_path / "killed", **options)
    assert (tmp_path / "killed" / "training.json").is_file()
    osp.train(words, load_static(), tmp_path / "killed", **options)
    files = [sorted(path.relative_to(folder) for path in folder.rglob("*")) for folder in tmp_path.iterdir()]
    assert files[0] == files[1]
    with pytest.raises(OffsphereError, match="holds a trained model already"):
        osp.train(words, load_static(), tmp_path / "killed", **options)


def test_checkpoints_of_another_configuration_are_refused(words, tmp_path):
    class StopError(Exception):
        pass

    def stop(step):
        if step == 5:
            raise StopError

    options = {"steps": 8, "batch": 16, "evaluate_every": 2, "dynamics_every": 0}
    with pytest.raises(StopError):
        osp.train(words, load_static(), tmp_path / "m", before_step=stop, **options)
    with pytest.raises(OffsphereError, match="batch 16 there, 8 here"):
        osp.train(words, load_static(), tmp_path / "m", **{**options, "batch": 8})
    assert osp.train(words, load_static(), tmp_path / "m", **options).record.run.steps == 8
