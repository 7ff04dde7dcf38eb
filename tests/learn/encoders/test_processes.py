"""Two processes under torchrun: loss and gradients of one with the joined batch, and a whole training."""

from __future__ import annotations

import json

import pytest
import torch
from safetensors.torch import load_file

from tests.learn.encoders.made import TRAIN, run_in_two, run_script

GATHERED = """
import sys
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer
from offsphere.learn.encoders.contrastive import ContrastiveLoss
from offsphere.learn.objective.regularizers import VRNS
from tests.learn.encoders.test_contrastive import DOCUMENTS, NEGATIVES, QUERIES

folder, out, mini_batch, momentum, normalize, loss = sys.argv[1:7]
torch.set_num_threads(1)
model = SentenceTransformer(folder, device="cpu").double()
many = distributed.is_torchelastic_launched()
if many:
    distributed.init_process_group("gloo")
rank, world = (distributed.get_rank(), distributed.get_world_size()) if many else (0, 1)
made = ContrastiveLoss(
    model, normalize, loss, regularizers=[VRNS(50, 2.0)], mini_batch=int(mini_batch) or None,
    momentum=float(momentum) or None, queue=10,
).double().train()
model.eval()
if many:
    made.model = DistributedDataParallel(model, find_unused_parameters=True)
size = len(QUERIES) // world
rows = slice(rank * size, (rank + 1) * size)
values = []
for step in range(2):
    made.zero_grad()
    columns = [{**model.preprocess(texts[rows])} for texts in (QUERIES, DOCUMENTS, NEGATIVES)]
    value = made(columns, None)
    value.backward()
    values.append(value.detach())
total = torch.stack(values)
if many:
    distributed.all_reduce(total)
    total /= world
if rank == 0:
    own = {name.replace("model.module.", "model."): part.grad for name, part in made.named_parameters()}
    save_file({**{name: part for name, part in own.items() if part is not None}, "value": total}, out)
if many:
    distributed.destroy_process_group()
"""


@pytest.mark.parametrize(
    "options",
    [["0", "0", "learn", "clip"], ["2", "0", "query", "simclr"], ["0", "0.9", "both", "infonce"]],
    ids=["plain", "cached", "momentum"],
)
def test_two_processes_are_one_with_the_joined_batch(transformer_folder, tmp_path, options):
    script = tmp_path / "gathered.py"
    script.write_text(GATHERED)
    run_script(GATHERED, transformer_folder, tmp_path / "one", *options)
    run_in_two(script, transformer_folder, tmp_path / "two", *options)
    one, two = load_file(tmp_path / "one"), load_file(tmp_path / "two")
    assert set(one) == set(two)
    for name, value in one.items():
        torch.testing.assert_close(two[name], value, atol=1e-9, rtol=1e-7, msg=name)


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
