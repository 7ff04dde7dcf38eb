"""Two processes under torchrun: loss and gradients of one with the joined batch, and a whole training."""

from __future__ import annotations

import json

import pytest
import torch
from safetensors.torch import load_file

from tests.learning.encoders.trainings import LAUNCH, TRAIN, run_in_two, run_script, write_words
from tests.processes import ROOT

GATHERED = """
import json
import sys
from pathlib import Path
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer
from offsphere.learning.encoders.contrastive import ContrastiveLoss
from offsphere.learning.objective.regularizers import VRNS
from tests.learning.encoders.test_contrastive import DOCUMENTS, NEGATIVES, QUERIES

folder, out, cases = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
torch.set_num_threads(1)
many = distributed.is_torchelastic_launched()
if many:
    distributed.init_process_group("gloo")
rank, world = (distributed.get_rank(), distributed.get_world_size()) if many else (0, 1)
size = len(QUERIES) // world
rows = slice(rank * size, (rank + 1) * size)
for name, (normalize, family, options) in cases.items():
    model = SentenceTransformer(folder, device="cpu").double()
    loss = ContrastiveLoss(model, normalize, family, regularizers=[VRNS(50, 2.0)], queue=10, **options)
    loss.double().train()
    model.eval()
    if many:
        loss.model = DistributedDataParallel(model, find_unused_parameters=True)
    values = []
    for step in range(2):
        loss.zero_grad()
        columns = [{**model.preprocess(texts[rows])} for texts in (QUERIES, DOCUMENTS, NEGATIVES)]
        value = loss(columns, None)
        value.backward()
        values.append(value.detach())
    total = torch.stack(values)
    if many:
        distributed.all_reduce(total)
        total /= world
    if rank == 0:
        gradients = {name.replace("model.module.", "model."): part.grad for name, part in loss.named_parameters()}
        known = {name: gradient for name, gradient in gradients.items() if gradient is not None}
        save_file({**known, "value": total}, out / name)
if many:
    distributed.destroy_process_group()
"""
CASES = {
    "plain": ["learn", "clip", {}],
    "cached": ["query", "simclr", {"mini_batch": 2}],
    "momentum": ["both", "infonce", {"momentum": 0.9}],
}


# one of the ten slowest: torchrun and the two processes it starts each import torch for themselves
@pytest.fixture(scope="module")
def gathered(transformer_folder, tmp_path_factory):
    """Loss and gradients of every case in one process, and in two: all cases at once, since processes start slowly."""
    folder = tmp_path_factory.mktemp("gathered")
    script = folder / "gathered.py"
    script.write_text(GATHERED)
    for name in ("one", "two"):
        (folder / name).mkdir()
    run_script(GATHERED, transformer_folder, folder / "one", json.dumps(CASES))
    run_in_two(script, transformer_folder, folder / "two", json.dumps(CASES))
    return folder


@pytest.mark.parametrize("name", CASES)
def test_two_processes_are_one_with_the_joined_batch(gathered, name):
    alone, together = load_file(gathered / "one" / name), load_file(gathered / "two" / name)
    assert set(alone) == set(together)
    for part, value in alone.items():
        torch.testing.assert_close(together[part], value, atol=1e-9, rtol=1e-7, msg=part)


@pytest.mark.slow  # torchrun and the two processes it starts each import torch for themselves
def test_the_command_of_the_page_trains_in_two_processes(transformer_folder, tmp_path):
    """What docs/training.md shows, word by word but for the names of data, model and folder."""
    (command,) = [line for line in (ROOT / "docs" / "training.md").read_text().splitlines() if line[:9] == "torchrun "]
    write_words(tmp_path / "data")
    named = {"DATA": tmp_path / "data", "MODEL": transformer_folder, "model": tmp_path / "model"}
    told = run_script(LAUNCH, *(named.get(word, word) for word in command.split()[1:]), cold=True)
    assert told.stdout.count("The model is in") == 1
    assert json.loads((tmp_path / "model" / "training.json").read_text())["runs"][0]["steps"] == 18


@pytest.mark.slow  # torchrun and the two processes it starts each import torch for themselves
def test_train_itself_runs_in_two_processes(transformer_folder, tmp_path):
    """Each with its own half of every batch; one of them writes."""
    script = tmp_path / "train.py"
    script.write_text(TRAIN)
    run_in_two(script, transformer_folder, tmp_path / "m", 0, 0)
    record = json.loads((tmp_path / "m" / "training.json").read_text())
    assert record["runs"][0]["steps"] == 18
    assert record["runs"][0]["best"] >= record["runs"][0]["start"]
    from offsphere.encode.sentence import load_sentence_transformer

    assert load_sentence_transformer(str(tmp_path / "m")).encode_query(["red cat"]).shape == (1, 32)
