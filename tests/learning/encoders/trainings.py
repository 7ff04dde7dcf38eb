"""What tests of trainings share: models that are loaded anew, scripts in processes of their own, a whole training."""

from __future__ import annotations

import subprocess
import sys

import torch
from sentence_transformers import SentenceTransformer

from offsphere.data.formats.beir import write_beir
from tests.learning.encoders.conftest import tokenizer, words_task
from tests.processes import PATIENCE, ROOT, environment_with, run_warm

IMPORTS = ("datasets", "sentence_transformers", "offsphere.learning.encoders.train_encoder", "pyarrow.parquet")


def load(folder):
    return SentenceTransformer(str(folder), device="cpu")


def load_static():
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    torch.manual_seed(0)
    return SentenceTransformer(modules=[StaticEmbedding(tokenizer(), embedding_dim=16)], device="cpu")


def run_script(code, *arguments, ok=True, cold=False):
    """Another process with one thread; its error is shown where it should have ended well.

    A ``cold`` one is started anew: it imports everything itself, and its hashes have a seed of their own.
    """
    settings = {**environment_with(ROOT), "OMP_NUM_THREADS": "1"}
    if cold:
        command = [sys.executable, "-c", code, *map(str, arguments)]
        result = subprocess.run(command, capture_output=True, text=True, env=settings, timeout=PATIENCE, check=False)
    else:
        result = run_warm(code, *arguments, imports=IMPORTS, env=settings)
    if ok:
        assert result.returncode == 0, result.stderr[-3000:]
    return result


TRAIN = """
import os, signal, sys
from pathlib import Path
from sentence_transformers import SentenceTransformer
import offsphere as osp
from tests.learning.encoders.conftest import words_task

folder, out, kill, limit = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
recipe = sys.argv[5] if len(sys.argv) > 5 else "magnitude"

def before_step(step):
    if kill and step == kill:
        os.kill(os.getpid(), signal.SIGKILL)
    if limit and step == limit:  # from now on a file may not become larger than this
        import resource
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))

osp.train(
    words_task(), SentenceTransformer(folder, device="cpu"), out, recipe=recipe, normalize="learn", steps=18, batch=16,
    rate=1e-3, evaluate_every=4, patience=9, dynamics_every=3, queue=32, epochs=4, before_step=before_step,
)
"""


def write_words(folder, queries=90, documents=110, learned=60):
    """A BEIR folder with two splits: three words of a document ask for it."""
    task = words_task(queries, documents)
    found = zip(task.judgments.queries, task.judgments.documents, strict=True)
    pairs = [(task.query_ids[q], task.document_ids[d]) for q, d in found]
    write_beir(
        folder,
        [(name, "", text) for name, text in zip(task.document_ids, task.document_texts, strict=True)],
        list(zip(task.query_ids, task.query_texts, strict=True)),
        {"train": pairs[:learned], "test": pairs[learned:]},
        "three words of a document",
    )
    return folder


LAUNCH = "import sys; from torch.distributed.run import main; main(sys.argv[1:])"


def run_in_two(script, *arguments):
    """A script under torchrun."""
    run_script(LAUNCH, "--standalone", "--nproc_per_node", "2", script, *arguments, cold=True)
