"""Where torch computes: the device that is named reaches whatever runs or trains, and one that is not there is refused.

The device ``meta``, which computes shapes alone and refuses tensors of other devices, stands for a graphics card.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

import offsphere as osp
from offsphere.base.errors import ParameterError
from offsphere.encode.devices import named_device, usable_device
from offsphere.encode.sentence import load_sentence_transformer
from offsphere.learning.adapters.adapter_recipe import Recipe
from offsphere.learning.adapters.adapter_setup import AdapterSetup
from offsphere.learning.adapters.adapter_trainer import AdapterTrainer
from offsphere.learning.encoders.encoder_setup import EncoderSetup, text_data
from offsphere.learning.encoders.trainable import load_model, training_device
from offsphere.learning.objective.objective import Objective
from tests.cli.running import printed, run
from tests.learning.encoders.conftest import save_transformer, words_task
from tests.learning.encoders.trainings import write_words

NEW = ("--steps", 2, "--batch", 4, "--rate", 0.01)
COMMANDS = {
    "embed": ("embed", "DATA", "--model", "MODEL", "--out", "OUT"),
    "compare": ("compare", "DATA", "--model", "MODEL", "--scorer", "dot"),
    "measure": ("measure", "DATA", "--model", "MODEL", "--section", "lengths"),
    "measure the layers": ("measure", "DATA", "--model", "MODEL", "--layers"),
    "audit": ("audit", "DATA", "--model", "MODEL", "--out", "OUT.html"),
    "adapt": ("adapt", "DATA", "--model", "MODEL", "--epochs", 2, "--out", "OUT"),
    "ablate": (
        *("ablate", "DATA", "--model", "MODEL", "--only", "cosine", "--epochs", 1, "--seeds", 1),
        *("--rate", 0.01, "--temperature", 0.05, "--out", "OUT"),
    ),
    "train": ("train", "DATA", "--model", "MODEL", *NEW, "--out", "OUT"),
    "sweep": ("sweep", "DATA", "--model", "MODEL", "--over", "temperature", "--values", "0.05", "--steps", 2),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model of two layers, and a folder of a task with two splits."""
    folder = tmp_path_factory.mktemp("devices")
    write_words(folder / "data", 40, 50, 25)
    return {"DATA": folder / "data", "MODEL": save_transformer(folder)}


def arguments(command, files, tmp_path, device):
    places = {**files, "OUT": tmp_path / "out", "OUT.html": tmp_path / "out.html"}
    typed = [places.get(word, word) for word in COMMANDS[command]]
    return [*typed, *(["--out", places["OUT"]] if command == "sweep" else []), "--device", device]


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_that_runs_torch_takes_the_processor(command, files, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert printed(*arguments(command, files, tmp_path, "cpu"))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_a_device_that_torch_does_not_know(command, files, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ParameterError, match=r"^device 'gpuu': torch knows no such device, name cpu, cuda, .*$"):
        printed(*arguments(command, files, tmp_path, "gpuu"))


@pytest.mark.slow
def test_an_unknown_device_is_one_line_and_exit_code_2(files, tmp_path):
    ended = run(*arguments("embed", files, tmp_path, "gpuu"))
    assert ended.returncode == 2
    assert len(ended.stderr.strip().splitlines()) == 1
    assert "Traceback" not in ended.stderr


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is one")
def test_a_card_that_is_not_there_is_told(hidden_map):
    assert named_device("cuda:1").index == 1  # a name is no promise: a worker elsewhere may have it
    for use in (lambda: osp.adapt(*hidden_map, device="cuda"), lambda: load_model("wordllama", "cuda")):
        with pytest.raises(ParameterError, match="device 'cuda': torch finds none here: leave the device out"):
            use()


def test_without_a_name_it_is_what_torch_finds(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert usable_device().type == "cuda"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert usable_device().type == "mps"
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert usable_device().type == "cpu"


def test_a_model_is_run_where_it_is_told(files):
    runtime = osp.Runtime(device="meta", processes=2)
    assert load_sentence_transformer(str(files["MODEL"]), runtime).device.type == "meta"
    assert runtime.devices() == ["meta", "meta"]
    assert runtime.named("model") == "model"  # the vectors are the same, to rounding


def test_vectors_that_are_there_need_no_model_for_a_device(hidden_map, tmp_path):
    assert osp.EmbeddedSource(str(tmp_path), runtime=osp.Runtime(device="cpu")).model is None
    with pytest.raises(ParameterError, match="the backend openvino is not run by torch: leave out the device cpu"):
        osp.Runtime(backend="openvino", device="cpu")


@pytest.mark.parametrize("options", [{}, {"rank": 4}, {"magnitude": "added"}, {"normalize": "learn"}], ids=str)
def test_maps_batches_and_the_probe_of_an_adapter_are_on_its_device(hidden_map, monkeypatch, options):
    made = []
    monkeypatch.setattr(torch.optim, "AdamW", lambda groups, **_: made.append(list(groups)))  # meta has none
    recipe = Recipe(batch=16, scale="fixed", hard_negatives=2, **options)
    setup = AdapterSetup.of(hidden_map, device="meta")
    trainer = AdapterTrainer(recipe, setup.pairs, lambda _: 0.0, setup.probe, seed=0, device=setup.device)
    drawn = hidden_map[1].documents[:32], setup.pairs.sources[0].document_keys[:32]
    monkeypatch.setattr(AdapterTrainer, "_hard", lambda trainer, _: (trainer._tensor(drawn[0]), drawn[1]))
    loss = trainer.objective(trainer._batch(np.arange(16)))  # tensors of two devices would not come together
    loss.backward()
    weights = [weight for group in made[0] for weight in group["params"]]
    assert loss.device.type == "meta"
    assert {weight.grad.device.type for weight in weights} == {"meta"}
    assert setup.probe.queries.device.type == setup.probe.others.device.type == "meta"


def test_lengths_that_calibrate_a_scale_stay_in_double_precision_on_the_processor():
    """Apple's cards have no float64; the sums are numbers for the scale, no part of the computation."""
    objective = Objective("none", widths=[2])
    generator = torch.Generator().manual_seed(0)
    sides = torch.randn(2, 8, 4, generator=generator)
    objective.scale.observe(*sides)
    scale = objective.scale(0, 0)
    moved = objective.to("meta", torch.float16)
    assert moved.scale.lengths.dtype == torch.float64
    assert moved.scale(0, 0) == scale != objective.scale.alpha
    assert "scale.lengths" in moved.state_dict()


def test_an_encoder_is_trained_where_it_is_told(files):
    data = text_data(words_task(40, 50), held_out=None, judged=[], new_documents=False, metric=None, seed=0)
    recipe = osp.EncoderRecipe(steps=2, rate=0.01)
    setup = EncoderSetup.of(str(files["MODEL"]), data, recipe, 0, device="meta")
    assert setup.model.device.type == "meta"
    in_memory = load_model(str(files["MODEL"]), "cpu")
    assert EncoderSetup.of(in_memory, data, recipe, 0).model.device.type == "cpu"
    assert EncoderSetup.of(in_memory, data, recipe, 0, device="meta").model.device.type == "meta"


def test_the_trainer_of_transformers_is_told_to_leave_cards_alone(files, tmp_path):
    from offsphere.learning.encoders.fit import _arguments

    for device, alone in (("cpu", True), ("meta", False)):
        model = load_model(str(files["MODEL"]), device)
        told = _arguments(osp.EncoderRecipe(rate=0.01), tmp_path, 2, 1, 0, save=False, model=model, run=None)
        assert told.use_cpu is alone


def test_a_card_with_a_number_is_chosen_before_training_starts(monkeypatch):
    monkeypatch.setattr("offsphere.learning.encoders.trainable.usable_device", torch.device)
    with pytest.raises(ParameterError, match="set CUDA_VISIBLE_DEVICES=1, and name cuda"):
        training_device("cuda:1")
    assert training_device("cuda:0").type == "cuda"


def test_the_processor_by_name_gives_the_same_adapter(hidden_map):
    how = {"batch": 64, "epochs": 2, "rate": 0.03}
    named, found = (osp.adapt(*hidden_map, device=device, **how) for device in ("cpu", None))
    if not torch.cuda.is_available():
        assert np.array_equal(named.query.matrix, found.query.matrix)
