"""Everything offsphere reads: how an example is written, how it is read, and who says what the right answer is.

What we save ourselves carries digests: damaged, it is the same value or an error. Other people's files carry none, so
the right answer is what another reader gets from the damaged bytes.
"""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SUBJECTS: dict[str, Subject] = {}
VECTORS = np.random.default_rng(0).standard_normal((12, 5)).astype(np.float32)
IDS = [f"d{row}" for row in range(12)]


@dataclass(frozen=True)
class Subject:
    """A format: an example in a folder, our reader, and another one; without another the value must not change."""

    write: Callable[[Path], None]
    read: Callable[[Path], Any]
    reference: Callable[[Path], Any] | None
    anything: bool = (
        False  # whether nobody else can say what the right answer is: any answer will do, but no other error
    )


def subject(name: str, *, anything: bool = False) -> Callable[[type], type]:
    """Register a class with ``write``, ``read`` and perhaps ``reference`` as a format."""

    def register(kind: type) -> type:
        SUBJECTS[name] = Subject(kind.write, kind.read, getattr(kind, "reference", None), anything)
        return kind

    return register


def exact(value: Any) -> Any:
    """A value in a form that equals another only where every bit does."""
    if isinstance(value, np.ndarray):
        return value.dtype.newbyteorder("=").str, value.shape, value.astype(value.dtype.newbyteorder("=")).tobytes()
    if isinstance(value, Mapping):
        return {name: exact(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [exact(part) for part in value]
    return repr(value)


def read_vector_file(path: Path) -> Any:
    """Our reader of vector files."""
    from offsphere.data.vector_files import read_vectors

    file = read_vectors(path)
    return np.asarray(file.vectors), file.ids


@subject("npy")
class Npy:
    @staticmethod
    def write(folder):
        np.save(folder / "v.npy", VECTORS)

    @staticmethod
    def read(folder):
        return read_vector_file(folder / "v.npy")

    @staticmethod
    def reference(folder):
        return np.load(folder / "v.npy", allow_pickle=False), None


@subject("npz")
class Npz:
    @staticmethod
    def write(folder):
        np.savez_compressed(folder / "v.npz", vectors=VECTORS, ids=np.array(IDS))

    @staticmethod
    def read(folder):
        return read_vector_file(folder / "v.npz")

    @staticmethod
    def reference(folder):
        with np.load(folder / "v.npz", allow_pickle=False) as archive:
            names = [name for name in ("id", "_id", "ids") if name in archive.files]
            tables = [name for name in archive.files if name not in ("id", "_id", "ids")]
            ids = [str(name) for name in archive[names[0]]] if names else None
            return archive["vectors" if "vectors" in tables else tables[0]], ids


@subject("parquet")
class Parquet:
    @staticmethod
    def write(folder):
        import pyarrow as pa
        import pyarrow.parquet as pq

        lists = pa.FixedSizeListArray.from_arrays(pa.array(VECTORS.ravel()), 5)
        pq.write_table(pa.table({"id": IDS, "vectors": lists}), folder / "v.parquet", write_page_checksum=True)

    @staticmethod
    def read(folder):
        return read_vector_file(folder / "v.parquet")

    @staticmethod
    def reference(folder):
        import pyarrow.parquet as pq

        table = pq.read_table(folder / "v.parquet", page_checksum_verification=True)
        lists = [name for name in table.column_names if "list" in str(table.schema.field(name).type)]
        ids = next((table[name].to_pylist() for name in ("id", "_id", "ids") if name in table.column_names), None)
        kind = table.schema.field(lists[0]).type.value_type.to_pandas_dtype()
        return np.array(table[lists[0]].to_pylist(), kind), ids


@subject("table of texts and vectors")
class TextsAndVectors:
    @staticmethod
    def write(folder):
        import pyarrow as pa
        import pyarrow.parquet as pq

        texts = [f"A text of number {row}. It goes on." for row in range(len(IDS))]
        columns = {"id": IDS, "text": texts, "embedding": [row.tolist() for row in VECTORS]}
        pq.write_table(pa.table(columns), folder / "v.parquet", write_page_checksum=True)

    @staticmethod
    def read(folder):
        from offsphere.base.errors import DataError
        from offsphere.data.embedded_table import EmbeddedTable

        table = EmbeddedTable.of(folder / "v.parquet")
        if table is None:
            raise DataError("no such table")
        file = table.vectors("document")
        return [entry["text"] for _, entry in table.entries()], np.asarray(file.vectors), list(file.ids)

    @staticmethod
    def reference(folder):
        import pyarrow.parquet as pq

        from offsphere.data.embedded_table import TEXTS

        table = pq.read_table(folder / "v.parquet", page_checksum_verification=True)
        text = next(name for name in TEXTS if name in table.column_names)
        vectors, ids = Parquet.reference(folder)
        return table[text].to_pylist(), vectors, ids or [str(row) for row in range(len(vectors))]


@subject("safetensors")
class Safetensors:
    @staticmethod
    def write(folder):
        from safetensors.numpy import save_file

        save_file({"vectors": VECTORS}, folder / "v.safetensors")

    @staticmethod
    def read(folder):
        return read_vector_file(folder / "v.safetensors")

    @staticmethod
    def reference(folder):
        from safetensors.numpy import load_file

        tensors = load_file(folder / "v.safetensors")
        return tensors.get("vectors", next(iter(tensors.values()))), None


@subject("table of vectors, a column a dimension")
class VectorColumns:
    @staticmethod
    def write(folder):
        rows = "".join(f"{name},{','.join(map(repr, row))}\n" for name, row in zip(IDS, VECTORS.tolist(), strict=True))
        (folder / "v.csv").write_text(f"id,a,b,c,d,e\n{rows}")

    @staticmethod
    def read(folder):
        return read_vector_file(folder / "v.csv")

    @staticmethod
    def reference(folder):
        with (folder / "v.csv").open(encoding="utf-8-sig", newline="") as stream:
            header, *rows = [row for row in csv.reader(stream, strict=True) if row]
        names = [name.strip().lower() for name in header]
        known = next((names.index(name) for name in ("id", "_id", "ids") if name in names), None)
        numbers = [[float(field) for column, field in enumerate(row) if column != known] for row in rows]
        ids = [row[known].strip() for row in rows] if known is not None else None
        with np.errstate(over="ignore"):
            return np.array(numbers, np.float64).astype(np.float32), ids


@subject("table of vectors, a column of lists")
class VectorLists:
    @staticmethod
    def write(folder):
        rows = "".join(f"{name}\t{row}\n" for name, row in zip(IDS, VECTORS.tolist(), strict=True))
        (folder / "v.tsv").write_text(f"id\tembedding\n{rows}")

    @staticmethod
    def read(folder):
        return read_vector_file(folder / "v.tsv")

    @staticmethod
    def reference(folder):
        header, *lines = [line for line in (folder / "v.tsv").read_text("utf-8-sig").split("\n") if line.strip()]
        names = [name.strip().lower() for name in header.split("\t")]
        rows = [line.rstrip("\r").split("\t") for line in lines]
        known = next((names.index(name) for name in ("id", "_id", "ids") if name in names), None)
        lists = next(
            column for column, field in enumerate(rows[0]) if column != known and field.strip().startswith("[")
        )
        numbers = [[float(part) for part in row[lists].strip()[1:-1].split(",")] for row in rows]
        ids = [row[known].strip() for row in rows] if known is not None else None
        with np.errstate(over="ignore"):
            return np.array(numbers, np.float64).astype(np.float32), ids


@subject("ids beside vectors")
class Ids:
    @staticmethod
    def write(folder):
        (folder / "v.ids").write_text("".join(f"{name}\n" for name in IDS))

    @staticmethod
    def read(folder):
        np.save(folder / "v.npy", VECTORS)
        ids = read_vector_file(folder / "v.npy")[1]
        (folder / "v.npy").unlink()
        return ids

    @staticmethod
    def reference(folder):
        lines = (folder / "v.ids").read_text("utf-8-sig").split("\n")
        return [line.strip() for line in lines if line.strip()]


def write_export(suffix: str) -> Callable[[Path], None]:
    """Export a store to a file, with whatever stands beside it."""

    def write(folder: Path) -> None:
        export_example(f"{folder}/v{suffix}")

    return write


def export_example(target: str) -> None:
    """Export a store of the vectors."""
    from offsphere.engines.exchange import export_store, import_vectors

    with tempfile.TemporaryDirectory() as place:
        np.save(f"{place}/v.npy", VECTORS)
        export_store(import_vectors(f"{place}/v.npy", Path(place, "store"), ids=IDS), target)


def read_target(target: str) -> Any:
    """Read a collection, as an import does."""
    from offsphere.engines.live_collection import LiveCollection

    live = LiveCollection.read(target)
    return np.asarray(live.vectors), live.ids


def read_export(suffix: str) -> Callable[[Path], Any]:
    """Read what was exported, as an import does."""

    def read(folder: Path) -> Any:
        from offsphere.engines.live_collection import LiveCollection

        if suffix != ".faiss":
            return read_vector_file(folder / f"v{suffix}")
        live = LiveCollection.read(f"{folder}/v.faiss")
        return np.asarray(live.vectors), live.ids

    return read


for _suffix in (".npy", ".safetensors", ".faiss", ".npz", ".parquet"):
    SUBJECTS[f"export, {_suffix}"] = Subject(write_export(_suffix), read_export(_suffix), None)


@subject("FAISS index of others")
class Faiss:
    @staticmethod
    def write(folder):
        write_export(".faiss")(folder)
        for name in ("v.faiss.sha256", "v.ids"):
            (folder / name).unlink()

    read = staticmethod(read_export(".faiss"))

    @staticmethod
    def reference(folder):
        import faiss

        index = faiss.read_index(str(folder / "v.faiss"))
        return index.reconstruct_n(0, index.ntotal), None


def read_and_search(folder: Path) -> Any:
    """Read an index of FAISS and ask it: what our reader accepts, the package must survive."""
    from offsphere.engines.registry import engine_of

    engine, where = engine_of(f"{folder}/v.faiss")
    with engine.open(where) as collection:
        vectors, ids = collection.read()
        if np.isfinite(vectors).all():
            collection.search(np.nan_to_num(vectors[:2]), 3)
        return np.asarray(vectors), ids


def write_index_of(factory: str) -> Callable[[Path], None]:
    """Write an index as the package makes it."""

    def write(folder: Path) -> None:
        import faiss

        index = faiss.index_factory(VECTORS.shape[1], factory, faiss.METRIC_INNER_PRODUCT)
        index.train(VECTORS)
        if factory.startswith("IDMap"):
            index.add_with_ids(VECTORS, np.arange(len(VECTORS))[::-1] + 100)
        else:
            index.add(VECTORS)
        faiss.write_index(index, str(folder / "v.faiss"))

    return write


for _factory in ("HNSW4", "IVF2,Flat", "IDMap,Flat", "IDMap2,HNSW4"):
    SUBJECTS[f"FAISS index of others, {_factory}"] = Subject(
        write_index_of(_factory), read_and_search, None, anything=True
    )


@subject("Qdrant collection", anything=True)
class Qdrant:
    @staticmethod
    def write(folder):
        export_example(f"qdrant:{folder}:things")

    @staticmethod
    def read(folder):
        from offsphere.engines.qdrant_folder import read_folder

        return read_folder(folder, "things", None, None)


@subject("LanceDB table", anything=True)
class LanceDb:
    @staticmethod
    def write(folder):
        export_example(f"lancedb:{folder}:things")

    @staticmethod
    def read(folder):
        return read_target(f"lancedb:{folder}:things")


@subject("DuckDB file", anything=True)
class DuckDb:
    @staticmethod
    def write(folder):
        export_example(f"duckdb:{folder}/v.duckdb:things")

    @staticmethod
    def read(folder):
        return read_target(f"duckdb:{folder}/v.duckdb:things")


@subject("SQLite file", anything=True)
class SqliteVec:
    @staticmethod
    def write(folder):
        export_example(f"sqlite:{folder}/v.db:things")

    @staticmethod
    def read(folder):
        return read_target(f"sqlite:{folder}/v.db:things")


@subject("BEIR folder")
class Beir:
    @staticmethod
    def write(folder):
        documents = [{"_id": f"d{n}", "title": f"T{n}", "text": f"some text number {n}"} for n in range(4)]
        (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents))
        (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "what é"}\n{"_id": "q2", "text": "who"}\n')
        (folder / "qrels").mkdir()
        (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td0\t0\nq2\td2\t1\n")

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        task = load_task(folder)
        query, document = task.sides
        grades = {}
        judged = task.judgments
        for row, column, grade in zip(judged.queries, judged.documents, judged.grades, strict=True):
            grades[task.query_ids[row], task.document_ids[column]] = float(grade)
        texts = dict(zip(document.ids, document.items, strict=True))
        asked = dict(zip(query.ids, query.items, strict=True))
        return texts, asked, {pair: grade for pair, grade in sorted(grades.items()) if grade > 0}

    @staticmethod
    def reference(folder):
        texts, asked = (_json_texts(folder / name) for name in ("corpus.jsonl", "queries.jsonl"))
        rows = [
            row.split() for row in (folder / "qrels" / "test.tsv").read_text("utf-8-sig").splitlines() if row.strip()
        ]
        first = 1 if rows[0][-1].lower() == "score" or not _is_number(rows[0][-1]) else 0
        grades = {(row[0], row[-2]): float(row[-1]) for row in rows[first:] if float(row[-1]) > 0}
        judged = {query for query, _ in grades}
        return texts, {name: text for name, text in asked.items() if name in judged}, dict(sorted(grades.items()))


def _json_texts(path):
    entries = [json.loads(line) for line in path.read_text("utf-8-sig").split("\n") if line.strip()]
    given = [[entry[key] for key in ("title", "text") if entry.get(key)] for entry in entries]
    return {
        str(entry.get("_id", entry.get("id"))): " ".join(parts) for entry, parts in zip(entries, given, strict=True)
    }


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


@subject("table of scored pairs")
class ScoredPairs:
    @staticmethod
    def write(folder):
        rows = "".join(f"a man {n},a woman ü {n},{n * 0.5}\n" for n in range(5))
        (folder / "pairs.csv").write_text(f'sentence1,sentence2,score\n{rows}"one, two",three,1.25\n')

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        task = load_task(folder / "pairs.csv")
        left, right = (side.items for side in task.sides)
        return list(left), list(right), [float(score) for score in task.gold]

    @staticmethod
    def reference(folder):
        with (folder / "pairs.csv").open(encoding="utf-8-sig", newline="") as stream:
            header, *rows = [row for row in csv.reader(stream, strict=True) if row]
        names = [name.strip().lower() for name in header]
        left, right, score = (names.index(name) for name in ("sentence1", "sentence2", "score"))
        return [row[left] for row in rows], [row[right] for row in rows], [float(row[score]) for row in rows]


@subject("recipe, TOML", anything=True)
class RecipeToml:
    @staticmethod
    def write(folder):
        (folder / "recipe.toml").write_text('recipe = "simcse"\ntemperature = 0.05\nbatch = 16\nnormalize = "query"\n')

    @staticmethod
    def read(folder):
        from offsphere.learning.encoders.recipe_file import recipe_from

        return recipe_from(file=folder / "recipe.toml")


@subject("recipe, YAML", anything=True)
class RecipeYaml:
    @staticmethod
    def write(folder):
        (folder / "recipe.yaml").write_text("temperature: 0.05\nbatch: 16\nnormalize: [1, 0.5]\n# é\n")

    @staticmethod
    def read(folder):
        from offsphere.learning.encoders.recipe_file import recipe_from

        return recipe_from(file=folder / "recipe.yaml")


@subject("model2vec folder", anything=True)
class Model2Vec:
    @staticmethod
    def write(folder):
        from safetensors.numpy import save_file
        from tokenizers import Tokenizer
        from tokenizers.models import WordLevel
        from tokenizers.pre_tokenizers import Whitespace

        words = {"[UNK]": 0, **{f"w{number}": number for number in range(1, 12)}}
        tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))  # no password
        tokenizer.pre_tokenizer = Whitespace()
        tokenizer.save(str(folder / "tokenizer.json"))
        numbers = {"embeddings": VECTORS, "mapping": np.arange(12), "weights": np.linspace(0.1, 1, 12)}
        save_file(numbers, folder / "model.safetensors")
        (folder / "config.json").write_text('{"model_type": "model2vec", "normalize": true, "max_length": 512}')

    @staticmethod
    def read(folder):
        from offsphere.encode.static import load_model2vec

        rows = load_model2vec(folder, "fuzzed").encode(["w1 w2 w11", "w3", "", "unknown words"], "document")
        assert rows.shape[0] == 4
        return rows


@subject("store")
class StoreFolder:
    @staticmethod
    def write(folder):
        from offsphere.encode.embedding import SideItems, embed_items
        from offsphere.encode.function import FunctionEncoder

        rows = dict(zip(IDS, VECTORS, strict=True))
        encoder = FunctionEncoder(lambda texts: [rows.get(text, VECTORS[0]) for text in texts], "rows")
        embed_items(SideItems("document", [f"id of {text}" for text in IDS], IDS), encoder, folder, block=5)
        (folder / ".lock").unlink(missing_ok=True)

    @staticmethod
    def read(folder):
        from offsphere.data.store import open_store

        store = open_store(folder)
        return np.asarray(store.vectors), [store.ids, *store.counts], store.manifest


@subject("store in the making")
class UnfinishedStore:
    """A store that a kill left after two of three blocks: it is finished right, or one line says that it cannot be."""

    texts = [f"text {row}" for row in range(30)]  # noqa: RUF012

    @classmethod
    def embed(cls, folder, blocks):
        from offsphere.encode.embedding import SideItems, embed_items
        from offsphere.encode.function import FunctionEncoder

        def rows(texts):
            nonlocal blocks
            blocks -= len(texts) > 1
            if blocks < 0:
                raise KeyboardInterrupt
            return [[len(text), float(text.split()[-1]), 1.5] for text in texts if text != "offsphere"] or [[0, 0, 0]]

        rows.__version__ = "1"
        side = SideItems("document", [str(row) for row in range(30)], cls.texts)
        return embed_items(side, FunctionEncoder(rows, "rows"), folder, block=10)

    @staticmethod
    def write(folder):
        try:
            UnfinishedStore.embed(folder, 2)
        except KeyboardInterrupt:
            (folder / ".lock").unlink(missing_ok=True)

    @staticmethod
    def read(folder):
        store = UnfinishedStore.embed(folder, 3)
        store.verify()
        return np.asarray(store.vectors), store.ids


@subject("sentence-transformers folder", anything=True)
class SentenceFolder:
    """Its configuration and its weights: whatever stands there, no code but ours runs, and vectors or one line come."""

    @staticmethod
    def write(folder):
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Normalize, StaticEmbedding
        from tokenizers import Tokenizer
        from tokenizers.models import WordLevel
        from tokenizers.pre_tokenizers import Whitespace

        tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "w1": 1, "w2": 2}, unk_token="[UNK]"))  # no password
        tokenizer.pre_tokenizer = Whitespace()
        stage = StaticEmbedding(tokenizer, embedding_weights=VECTORS[:3])
        SentenceTransformer(modules=[stage, Normalize()], prompts={"query": "w1 ", "document": ""}).save(str(folder))

    @staticmethod
    def read(folder):
        from offsphere.encode import load_encoder

        rows = load_encoder(str(folder)).encode(["w1 w2", "w2", ""], "query")
        assert len(rows) == 3
        return rows


def _learned_side(seed):
    from offsphere.scoring.transforms.adapter_map import MagnitudeHead, SideAdapter

    rng = np.random.default_rng(seed)
    return SideAdapter(rng.standard_normal((5, 4)), 0.5, MagnitudeHead(rng.standard_normal(5), 0.1, 0.2, 1.0, "added"))


def _training():
    from offsphere.scoring.training_record import Run, Training

    run = Run(
        0,
        0.5,
        0.6,
        best_step=40,
        steps=60,
        seconds=1.5,
        history=[(0, float("nan"), 0.5), (40, 0.7, 0.62)],
        stopped="all steps done",
    )
    rows = [{"step": float(step), "query_length": 1 + step / 7, "layer": None} for step in range(5)]
    recipe = {"normalize": "query", "temperature": 0.05, "length_target": None}
    return Training(
        recipe,
        {"loss": "infonce"},
        "ndcg@10",
        {"pairs": 80},
        runs=[run],
        chosen=0,
        dynamics=rows,
        notes=["a note é"],
        said=[],
        learned=np.arange(9),
    )


@subject("scorer folder")
class ScorerFolder:
    @staticmethod
    def write(folder):
        from offsphere.ranking.hub_bias import nnn
        from offsphere.scoring.names import parse_scorer
        from offsphere.vectors.moments import Moments

        nnn(parse_scorer("whiten(0.5) + polar(1, 0.75)").fit(Moments.of(VECTORS)), VECTORS, VECTORS[:4]).save(folder)

    @staticmethod
    def read(folder):
        from offsphere.scoring.names import read_scorer

        scorer = read_scorer(str(folder))
        return scorer.name, scorer.key, scorer.transform(VECTORS), scorer.bias.values


@subject("adapter folder")
class AdapterFolder:
    @staticmethod
    def write(folder):
        from offsphere.scoring.adapter import Adapter

        Adapter(_learned_side(0), _learned_side(1), label="fuzzed", record=_training()).save(folder)

    @staticmethod
    def read(folder):
        from offsphere.scoring.adapter import Adapter

        adapter = Adapter.load(folder)
        record = adapter.record
        sides = [adapter.apply(VECTORS, side) for side in ("query", "document")]
        return adapter.name, sides, record.to_json(), list(record.dynamics), record.learned


@subject("training record")
class TrainingRecord:
    @staticmethod
    def write(folder):
        _training().save(folder)

    @staticmethod
    def read(folder):
        from offsphere.scoring.training_record import Training

        record = Training.load(folder)
        return record.to_json(), list(record.dynamics), record.learned


@subject("factors folder")
class FactorsFolder:
    @staticmethod
    def write(folder):
        from offsphere.factors.closed_form import factorize

        factorize(np.abs(VECTORS), k=3, weighting="standardize").save(folder)

    @staticmethod
    def read(folder):
        from offsphere.factors.closed_form import Factors

        factors = Factors.load(folder)
        return factors.items, factors.users(np.abs(VECTORS)), repr(factors)


@subject("ablation result")
class AblationResult:
    @staticmethod
    def write(folder):
        from offsphere.learning.ablation.ablation import Ablation, PaperFinding, VariantResult, VariantRow

        result = VariantResult(0.5, 0.4, 0.6, 0.01, 0.1, -0.1, 0.3, 0.04)
        rows = [VariantRow(name, 0.05, 1e-3, 0.4, [result], 1.5, (1.0, 0.0), 0.2, ["é"]) for name in ("cosine", "dot")]
        finding = PaperFinding("longer is better", "a paper", "holds", "0.5 above 0.4")
        dynamics = [{"variant": "dot", "step": 1.0, "loss": 0.5}]
        Ablation(
            [{"name": "t", "queries": 4}],
            "ndcg@10",
            rows,
            untouched=[0.3],
            seeds=1,
            trials=2,
            findings=[finding],
            counts={"pairs": 3},
            dynamics=dynamics,
        ).save(folder)

    @staticmethod
    def read(folder):
        from offsphere.learning.ablation.ablation import Ablation

        ablation = Ablation.load(folder)
        return ablation.to_json(), list(ablation.dynamics), ablation.footnotes


@subject("cache entry")
class CacheEntry:
    """A damaged entry is a miss: what is asked for comes out the same, computed again."""

    @staticmethod
    def write(folder):
        from offsphere.base.cache import Memo

        Memo(folder / "question").arrays("part", lambda: {"rows": VECTORS, "names": np.array(IDS)})

    @staticmethod
    def read(folder):
        from offsphere.base.cache import Memo

        return Memo(folder / "question").arrays("part", lambda: {"rows": VECTORS, "names": np.array(IDS)})


@subject("sparse interactions")
class Interactions:
    @staticmethod
    def write(folder):
        from scipy import sparse

        sparse.save_npz(folder / "seen.npz", sparse.csr_array(np.maximum(VECTORS, 0)))

    @staticmethod
    def read(folder):
        from offsphere.factors.factor_files import read_interactions

        return read_interactions(folder / "seen.npz").toarray()

    @staticmethod
    def reference(folder):
        from scipy import sparse

        return sparse.load_npz(folder / "seen.npz").astype(np.float64).toarray()


def _grades(task):
    """What a ranking task says: texts by id, and the positive grades."""
    judged = task.judgments
    rows = zip(judged.queries, judged.documents, judged.grades, strict=True)
    grades = {(task.query_ids[q], task.document_ids[d]): float(grade) for q, d, grade in rows if grade > 0}
    return dict(sorted(grades.items()))


def _qrels(path):
    """Judgments as their format is described: three fields or four, by tabs where there are any, else by blanks."""
    grades = {}
    for number, line in enumerate(path.read_text("utf-8-sig").split("\n"), 1):
        if not line.strip():
            continue
        fields = [field.strip() for field in (line.split("\t") if "\t" in line else line.split())]
        query, *_, document, grade = fields
        if number == 1 and not _is_number(grade):
            continue
        if float(grade) > 0:
            grades[query, document] = float(grade)
    return dict(sorted(grades.items()))


@subject("TREC folder")
class Trec:
    @staticmethod
    def write(folder):
        topics = [f"<top>\n<num> Number: {n}\n<title> Topic: what is {n}\n</top>\n" for n in (301, 302)]
        (folder / "topics.test").write_text("".join(topics))
        (folder / "collection.tsv").write_text("".join(f"d{n}\tsome text é {n}\n" for n in range(4)))
        (folder / "qrels.test").write_text("301 0 d1 1\n301 0 d2 0\n302 0 d3 2\n")

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        task = load_task(folder)
        return dict(zip(task.document_ids, task.document_texts, strict=True)), _grades(task)

    @staticmethod
    def reference(folder):
        lines = [line for line in (folder / "collection.tsv").read_text("utf-8-sig").split("\n") if line.strip()]
        texts = {line.partition("\t")[0].strip(): line.partition("\t")[2].strip() for line in lines}
        return texts, _qrels(folder / "qrels.test")


@subject("qrels alone")
class QrelsAlone:
    @staticmethod
    def write(folder):
        (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td0\t0\nq2\td2\t1\n")

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        (folder / "documents.ids").write_text("".join(f"d{n}\n" for n in range(300)))
        task = load_task(folder)
        (folder / "documents.ids").unlink()
        return _grades(task)

    @staticmethod
    def reference(folder):
        return _qrels(folder / "qrels.tsv")


@subject("TREC run")
class TrecRun:
    @staticmethod
    def write(folder):
        (folder / "theirs.run").write_text("q1 Q0 d1 1 2.5 x\nq1 Q0 d0 2 1e-3 x\nq2 Q0 d2 1 -7 x\n")

    @staticmethod
    def read(folder):
        from offsphere.data.formats.run_files import read_run

        return sorted((found.query, found.document, found.score) for found in read_run(folder / "theirs.run"))

    @staticmethod
    def reference(folder):
        lines = (folder / "theirs.run").read_text("utf-8-sig").split("\n")
        by_tabs = [line.split("\t") if line.count("\t") == 5 else line.split() for line in lines if line.strip()]
        return sorted((fields[0].strip(), fields[2].strip(), float(fields[4])) for fields in by_tabs)


@subject("ranx run")
class RanxRun:
    @staticmethod
    def write(folder):
        (folder / "theirs.json").write_text(json.dumps({"q1": {"d1": 2.5, "d0": 1}, "q2": {"d2": -7.0}}))

    @staticmethod
    def read(folder):
        from offsphere.data.formats.run_files import read_run

        return sorted((found.query, found.document, found.score) for found in read_run(folder / "theirs.json"))

    @staticmethod
    def reference(folder):
        run = json.loads((folder / "theirs.json").read_text("utf-8-sig"))
        return sorted((query, name, float(score)) for query, found in run.items() for name, score in found.items())


@subject("threshold of a scorer")
class SavedThreshold:
    @staticmethod
    def write(folder):
        from offsphere.scoring.cut import Cut

        Cut(0.25, "a promise", "key").save(folder)

    @staticmethod
    def read(folder):
        from offsphere.scoring.cut import Cut

        return Cut.load(folder, "key")


def _text_pairs(task):
    positives = zip(*task.positives(), strict=True)
    return sorted((task.query_texts[q], task.document_texts[d]) for q, d in positives)


@subject("text pairs, JSON lines")
class TextPairsLines:
    @staticmethod
    def write(folder):
        rows = [{"anchor": f"what {n}", "positive": f"this é {n}", "negative": f"not {n}"} for n in range(4)]
        (folder / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        return _text_pairs(load_task(folder / "pairs.jsonl"))

    @staticmethod
    def reference(folder):
        lines = [line for line in (folder / "pairs.jsonl").read_text("utf-8-sig").split("\n") if line.strip()]
        entries = [{name.lower(): value for name, value in json.loads(line).items()} for line in lines]
        return sorted({(entry["anchor"], entry["positive"]) for entry in entries})


@subject("text pairs, TSV")
class TextPairsTable:
    @staticmethod
    def write(folder):
        rows = "".join(f"what {n}\tthis é {n}\n" for n in range(4))
        (folder / "pairs.tsv").write_text(f"query\tanswer\n{rows}")

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        return _text_pairs(load_task(folder / "pairs.tsv"))

    @staticmethod
    def reference(folder):
        lines = [line for line in (folder / "pairs.tsv").read_text("utf-8-sig").split("\n") if line.strip()]
        names = [name.strip().lower() for name in lines[0].split("\t")]
        rows = [dict(zip(names, line.split("\t"), strict=True)) for line in lines[1:]]
        return sorted({(row["query"], row["answer"]) for row in rows})


class Picture:
    """A picture of one format: whatever is left of it, it is pixels or an error."""

    def __init__(self, kind):
        self.kind = kind

    def write(self, folder):
        from PIL import Image

        pixels = np.random.default_rng(0).integers(0, 256, (9, 7, 3), np.uint8)
        Image.fromarray(pixels).save(folder / "picture", self.kind)

    @staticmethod
    def read(folder):
        from offsphere.base.reading.picture_files import read_picture

        return np.asarray(read_picture(folder / "picture", "picture"))


for _kind in ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"):
    _picture = Picture(_kind)
    SUBJECTS[f"picture, {_kind}"] = Subject(_picture.write, _picture.read, None, anything=True)


@subject("idx")
class Idx:
    @staticmethod
    def write(folder):
        numbers = np.arange(24, dtype=np.uint8)
        (folder / "numbers").write_bytes(b"\0\0\x08\x03" + np.array([2, 3, 4], ">u4").tobytes() + numbers.tobytes())

    @staticmethod
    def read(folder):
        from offsphere.base.reading.idx_files import read_idx

        return read_idx(folder / "numbers")

    @staticmethod
    def reference(folder):
        content = (folder / "numbers").read_bytes()
        assert content[:3] == b"\0\0\x08"
        shape = np.frombuffer(content, ">u4", content[3], offset=4)
        return np.frombuffer(content[4 + 4 * content[3] :], np.uint8).reshape(shape)


@subject("captions", anything=True)
class Captions:
    @staticmethod
    def write(folder):
        np.savez(folder / "images.npz", images=np.arange(4 * 12, dtype=np.uint8).reshape(4, 2, 2, 3))
        rows = [{"image": n, "caption": f"picture é {n}"} for n in range(4)]
        (folder / "captions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        task = load_task(folder)
        return list(task.query_texts), [image.pixels() for image in task.document_texts]


@subject("interactions, TSV", anything=True)
class InteractionTable:
    @staticmethod
    def write(folder):
        rows = "".join(f"u{user}\ti{(user + item) % 7}\t{item}\t{item}\n" for user in range(6) for item in range(4))
        (folder / "interactions.tsv").write_text(f"user\titem\trating\ttimestamp\n{rows}")

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        task = load_task(folder)
        return len(task.known.grades) + len(task.judgments.grades)


@subject("edges of a graph", anything=True)
class Edges:
    @staticmethod
    def write(folder):
        rows = "".join(f"n{one}\tn{other}\n" for one in range(8) for other in range(one))
        (folder / "edges.tsv").write_text(rows)

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        return len(load_task(folder).known.grades)


@subject("labelled texts", anything=True)
class LabelledTexts:
    @staticmethod
    def write(folder):
        rows = "".join(f"text é {row}\tlabel {row % 3}\n" for row in range(18))
        (folder / "train.tsv").write_text(rows)

    @staticmethod
    def read(folder):
        from offsphere.data import load_task

        return load_task(f"{folder}?ways=2&shots=1&items=1&episodes=3").shots
