"""Every command that writes, on data so small that it can be killed often: what to type, and what it leaves."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from offsphere.base.arrays import Array

COMMANDS: dict[str, Command] = {}
TIMED = ("seconds", "milliseconds", "digest")  # how long it took, and what is made of that
MODEL = """
import zlib, numpy as np
def rows(texts):
    return np.stack([np.random.default_rng(zlib.crc32(text.encode())).standard_normal(8) for text in texts])
"""


@dataclass(frozen=True)
class Command:
    """What is typed, ``{data}`` and ``{out}`` being folders; how the data is made; how to look at what it wrote."""

    typed: str
    prepare: Callable[[Path], None]
    outcome: Callable[[Path], dict[str, str]]


def command(name: str, typed: str, outcome: Callable[[Path], dict[str, str]] | None = None) -> Callable[[Any], Any]:
    """Register a function that makes the data of a command."""

    def register(prepare: Callable[[Path], None]) -> Callable[[Path], None]:
        COMMANDS[name] = Command(typed, prepare, outcome or files_of)
        return prepare

    return register


def files_of(folder: Path) -> dict[str, str]:
    """A digest of every file below a folder; how long something took is no part of it.

    A lock says nothing and may stay; the parts of an ablation and the card of a model say how long each took.
    """
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in (".lock", "README.md"))
    names = {path: str(path.relative_to(folder)) for path in files}
    return {name: _digest(path) for path, name in names.items() if not name.startswith("parts/")}


def _digest(path: Path) -> str:
    content = path.read_bytes()
    if path.suffix == ".json":
        content = json.dumps(_without_seconds(json.loads(content))).encode()
    if path.suffix == ".csv":
        rows = csv.DictReader(content.decode().splitlines())
        content = json.dumps([_without_seconds(row) for row in rows]).encode()
    return sha256(content).hexdigest()


def _without_seconds(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_seconds(part) for name, part in value.items() if name not in TIMED}
    return [_without_seconds(part) for part in value] if isinstance(value, list) else value


def collection(kind: str, name: str) -> Callable[[Path], dict[str, str]]:
    """How to look at an engine's collection: its files are not the same twice, its vectors are."""

    def outcome(folder: Path) -> dict[str, str]:
        from offsphere.engines.files.exchange import import_vectors

        store = import_vectors(f"{kind}:{folder / name}", folder.parent / "read back")
        return {row: str(vector.tolist()) for row, vector in zip(store.ids, store.vectors, strict=True)}

    return outcome


def shipped(collection_of: Callable[[Path], dict[str, str]]) -> Callable[[Path], dict[str, str]]:
    """How to look at a scorer in an engine: what was stored, the scorer, and what was verified, wherever it lies."""

    def outcome(folder: Path) -> dict[str, str]:
        stored = {name: seen for name, seen in collection_of(folder).items() if not name.startswith("record/")}
        verified = json.loads((folder / "record" / "verification.json").read_text())
        told = {name: str(verified[name]) for name in ("scorer", "strategy", "rows", "recall", "worst", "score_error")}
        return stored | told | files_of(folder / "record" / "scorer")

    return outcome


def write_texts(folder: Path, rows: int = 2_000) -> None:
    """Pairs of texts with scores, and a function that encodes them."""
    (folder / "killed_model.py").write_text(MODEL)
    lines = "".join(f"sentence {row},another {row % 97},{row % 11}\n" for row in range(rows))
    (folder / "pairs.csv").write_text(f"sentence1,sentence2,score\n{lines}")


def write_store(folder: Path, rows: int = 3_000, width: int = 16) -> None:
    """A finished store, to be exported."""
    from offsphere.engines.files.exchange import import_vectors

    np.save(folder / "v.npy", np.random.default_rng(0).standard_normal((rows, width)).astype(np.float32))
    (folder / "v.ids").write_text("".join(f"row {row}\n" for row in range(rows)))
    import_vectors(str(folder / "v.npy"), folder / "store")


def write_ranking(folder: Path, queries: int = 60, documents: int = 240) -> None:
    """A ranking with vectors that can be learned from: relevance is seen through a hidden turn."""
    rng = np.random.default_rng(1)
    turn = np.linalg.qr(rng.standard_normal((8, 8)))[0]
    corpus = rng.standard_normal((documents, 8)) * rng.lognormal(0, 0.3, (documents, 1))
    (folder / "qrels").mkdir()
    for split, first in (("train", 0), ("test", queries)):
        wanted = rng.integers(0, documents, queries)
        rows = "".join(f"q{first + q}\td{d}\t1\n" for q, d in enumerate(wanted))
        (folder / "qrels" / f"{split}.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")
        vectors = (corpus[wanted] @ turn + 0.3 * rng.standard_normal((queries, 8))).astype(np.float32)
        name = "queries" if split == "test" else f"queries-{split}"
        np.save(folder / f"{name}.npy", vectors)
        (folder / f"{name}.ids").write_text("".join(f"q{first + q}\n" for q in range(queries)))
    write_documents(folder, corpus, 2 * queries)


def write_documents(folder: Path, vectors: Array, queries: int) -> None:
    """Vectors and texts of documents, and the texts of queries."""
    np.save(folder / "documents.npy", vectors.astype(np.float32))
    (folder / "documents.ids").write_text("".join(f"d{d}\n" for d in range(len(vectors))))
    texts = {"corpus": [f"d{d}" for d in range(len(vectors))], "queries": [f"q{q}" for q in range(queries)]}
    for name, ids in texts.items():
        lines = "".join(json.dumps({"_id": item, "text": f"text of {item}"}) + "\n" for item in ids)
        (folder / f"{name}.jsonl").write_text(lines)


command("threshold", "threshold {data} --recall 0.1 --save {out}")(write_ranking)
command("embed", "embed {data}/pairs.csv --model callable:killed_model:rows --out {out}")(write_texts)
command("import", "data import {data}/v.npy {out}/store")(write_store)
command("queries", "data queries {data} --out {out}/queries.jsonl --documents {out}/documents.jsonl")(write_ranking)
for suffix in ("npy", "npz", "parquet", "safetensors"):
    command(f"export .{suffix}", f"data export {{data}}/store {{out}}/v.{suffix}")(write_store)
command("export, FAISS", "data export {data}/store {out}/v.faiss")(write_store)
COLLECTIONS = {
    "Qdrant": ("qdrant", "db:things"),
    "LanceDB": ("lancedb", "db:things"),
    "DuckDB": ("duckdb", "v.duckdb:things"),
    "sqlite-vec": ("sqlite", "v.db:things"),
    "hnswlib": ("hnswlib", "v.hnsw"),
}
for engine, (kind, name) in COLLECTIONS.items():
    command(f"export, {engine}", f"data export {{data}}/store {kind}:{{out}}/{name}", collection(kind, name))(
        lambda folder: write_store(folder, 300)
    )
SHIPPED = "export 'center + dot' --vectors {{data}}/store --to {kind}:{{out}}/{name} --out {{out}}/record"
command("ship, FAISS", SHIPPED.format(kind="faiss", name="v.faiss"), shipped(files_of))(
    lambda folder: write_store(folder, 300)
)
command(
    "ship, sqlite-vec", SHIPPED.format(kind="sqlite", name="v.db:things"), shipped(collection("sqlite", "v.db:things"))
)(lambda folder: write_store(folder, 300))
command("study", "study {data}={data} --out {out}", lambda folder: {"study": _digest(folder / "study.json")})(
    write_ranking
)
command("audit", "audit {data} --format json --out {out}/audit.json --save {out}/scorer")(write_ranking)
command("compare", "compare {data} --save {out}/scorer")(write_ranking)
command("compare, a shard", "compare {data} --shard 1/1 --state {out}/fit")(write_ranking)
command("docstrings", "data docstrings --package json --package email --out {out}/json")(lambda folder: None)
command("measure, a shard", "measure {data}/documents.npy --shard 1/1 --state {out}/state")(write_ranking)
command("factors, a page", "factorize demo --out {out}/page.html --users 400 --items 60")(lambda folder: None)
command("adapt", "adapt {data} --out {out} --epochs 2")(write_ranking)
command("ablate", "ablate {data} --out {out} --sweep temperature --epochs 1 --seeds 1")(write_ranking)


EXPORTED = "audit {data} --format json --out {out}/audit.json --export faiss:{out}/v.faiss"


@command("audit, exported", EXPORTED)
def write_trusted(folder: Path, queries: int = 60, documents: int = 120) -> None:
    """Documents as long as they are trusted, of which the near and trusted are relevant: by dot product, in short."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(documents, 8)) * np.exp(rng.normal(0, 0.6, (documents, 1)))
    asked = vectors[:queries] + rng.normal(0, 0.2, (queries, 8))
    nearest = np.argsort(-(asked @ vectors.T), axis=1)[:, :3]
    rows = "".join(f"q{q}\td{d}\t1\n" for q, found in enumerate(nearest) for d in found)
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")
    np.save(folder / "queries.npy", asked.astype(np.float32))
    (folder / "queries.ids").write_text("".join(f"q{q}\n" for q in range(queries)))
    write_documents(folder, vectors, queries)


@command("embed, a shard", "embed {data} --model callable:killed_model:rows --shard 1/2 --out {out}")
def write_ranking_and_model(folder: Path) -> None:
    """The ranking, and a function that encodes its texts."""
    write_ranking(folder, queries=400, documents=3_000)
    (folder / "killed_model.py").write_text(MODEL)


@command("merge", "merge {data}/fit-1 {data}/fit-2 --state {out}/fit")
def write_states(folder: Path) -> None:
    """What two shards fitted."""
    from offsphere.data import load_task
    from offsphere.shards.divided_task import DividedTask
    from offsphere.shards.fit_state import FitState
    from offsphere.shards.shard import Shard
    from offsphere.shards.state_files import write_state

    write_ranking(folder, documents=3_000)
    task, documents = DividedTask.of(load_task(folder)), np.load(folder / "documents.npy")
    for number in (1, 2):
        shard = Shard(number, 2)
        mine, fitted = shard.rows(len(documents)), shard.fitted_rows(len(documents))
        state = FitState.of(task, shard, documents[mine.start : mine.stop], documents[fitted.start : fitted.stop])
        write_state(folder / f"fit-{number}", state)


@command("factorize", "factorize fit {data}/seen.npz --rank 8 --out {out}")
def write_interactions(folder: Path) -> None:
    """Users and what they chose."""
    from scipy import sparse

    chosen = np.random.default_rng(2).random((200, 80)) < 0.1
    sparse.save_npz(folder / "seen.npz", sparse.csr_array(chosen.astype(np.float32)))


SWEPT = "--over temperature --values 0.05,0.5 --steps 2 --set batch=8"


@command("sweep", f"sweep {{data}} --model {{data}}/model --out {{out}} {SWEPT}")
@command("train", "train {data} --model {data}/model --out {out} --steps 8 --batch 8 --set evaluate_every=3")
def write_words(folder: Path) -> None:
    """Texts of a few words, a train and a test split, and a transformer of two layers."""
    from offsphere.data.formats.beir import write_beir
    from tests.learning.encoders.conftest import save_transformer, words_task

    save_transformer(folder, dropout=0.1)
    task = words_task()
    query, document = task.sides
    pairs = [
        (query.ids[q], document.ids[d]) for q, d in zip(task.judgments.queries, task.judgments.documents, strict=True)
    ]
    documents = [(name, "", text) for name, text in zip(document.ids, document.items, strict=True)]
    asked = list(zip(query.ids, query.items, strict=True))
    write_beir(folder, documents, asked, {"train": pairs[:60], "test": pairs[60:]}, "three words of each document")


# the folder is named as it is seen from the working folder, since its record repeats the name
FOLDED = "export query-normalized --model {data}/model --to sentence-transformers:out/model --replace"


@command("export, a model", FOLDED)
def write_model(folder: Path) -> None:
    """A transformer of two layers."""
    from tests.learning.encoders.conftest import save_transformer

    save_transformer(folder, normalize=True)


@command("classify", "classify {data}/things --model {data}/clip --out {out} --neighbours 3")
def write_pictures(folder: Path) -> None:
    """Pictures in two colours, a folder for each, and a model of the size of a toy."""
    from PIL import Image

    from tests.tiny_vision import save_clip

    save_clip(folder / "clip")
    for name, colour in (("red", (250, 20, 20)), ("blue", (20, 20, 250))):
        (folder / "things" / name).mkdir(parents=True)
        for number in range(40):
            tint = tuple(int(part * (0.6 + number / 99)) for part in colour)
            Image.new("RGB", (20, 20), tint).save(folder / "things" / name / f"{number}.png")


# what is not killed here, and why: a command, or one with the option by which it writes
NOT_KILLED = {
    "recipes": "it prints",
    "probe": "it prints what an engine answers",
    "doctor": "it prints",
    "factorize stability": "it prints",
    "data info": "it prints",
    "cache info": "it prints",
    "cache clear": "it removes: tests/cli/test_cache_command.py",
    "data download": "it needs a package of PyPI: tests/data/test_download.py ends it after each file",
    "demo": "data docstrings, then audit with a model: both are here",
    "merge --save": "as compare saves what it recommends",
    "audit --states": "Ray must be installed; each state is written as with --shard",
    "compare --states": "Ray must be installed; each state is written as with --shard",
    "measure --states": "Ray must be installed; each state is written as with --shard",
    "ablate --figures": "one file after the other, each written whole; the result that they show is here",
    "sweep --figures": "one file after the other, each written whole; the result that they show is here",
}
