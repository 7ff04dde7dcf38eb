"""What an export writes: files and collections that are read back."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.formats.vector_formats import read_vector_file
from tests.fuzz.subject import IDS, SUBJECTS, VECTORS, Subject, subject


def write_export(suffix: str) -> Callable[[Path], None]:
    """Export a store to a file, with whatever stands beside it."""

    def write(folder: Path) -> None:
        export_example(f"{folder}/v{suffix}")

    return write


def export_example(target: str) -> None:
    """Export a store of the vectors."""
    from offsphere.engines.files.exchange import export_store, import_vectors

    with tempfile.TemporaryDirectory() as place:
        np.save(f"{place}/v.npy", VECTORS)
        export_store(import_vectors(f"{place}/v.npy", Path(place, "store"), ids=IDS), target)


def read_target(target: str) -> Any:
    """Read a collection, as an import does."""
    from offsphere.engines.deployed.live_collection import LiveCollection

    live = LiveCollection.read(target)
    return np.asarray(live.vectors), live.ids


def read_export(suffix: str) -> Callable[[Path], Any]:
    """Read what was exported, as an import does."""

    def read(folder: Path) -> Any:
        from offsphere.engines.deployed.live_collection import LiveCollection

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


def rows_of_package(folder: Path) -> Any:
    """What the package says that an index holds, which our reader does not ask."""
    import faiss

    whole = faiss.read_index(str(folder / "v.faiss"))  # which owns what is inside of it
    index, numbers = whole, None
    if isinstance(whole, faiss.IndexIDMap):
        numbers = faiss.vector_to_array(whole.id_map)
        index = faiss.downcast_index(whole.index)
    if not isinstance(index, faiss.IndexIVF):
        rows = index.reconstruct_n(0, index.ntotal)
        return rows, None if numbers is None else [str(number) for number in numbers]
    from faiss.contrib.inspect_tools import get_invlist

    lists = [get_invlist(index.invlists, number) for number in range(index.nlist)]
    numbers = np.concatenate([found for found, _ in lists])
    rows = np.concatenate([codes.reshape(len(codes), -1).view(np.float32) for _, codes in lists])
    order = np.argsort(numbers, kind="stable")
    plain = (numbers[order] == np.arange(len(numbers))).all()
    return rows[order], None if plain else [str(number) for number in numbers[order]]


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
    SUBJECTS[f"FAISS index of others, {_factory}"] = Subject(write_index_of(_factory), read_and_search, rows_of_package)


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


@subject("hnswlib index")
class Hnswlib:
    @staticmethod
    def write(folder):
        export_example(f"hnswlib:{folder}/v.hnsw")

    @staticmethod
    def read(folder):
        return read_target(f"hnswlib:{folder}/v.hnsw")


@subject("usearch index")
class Usearch:
    @staticmethod
    def write(folder):
        export_example(f"usearch:{folder}/v.usearch")

    @staticmethod
    def read(folder):
        return read_target(f"usearch:{folder}/v.usearch")


@subject("folder of an export")
class ExportFolder:
    """Its record says what is there already: exported again, the same vectors stand there, or one line says why not."""

    @staticmethod
    def write(folder):
        ExportFolder.read(folder)
        for path in folder.rglob(".lock"):
            path.unlink()

    @staticmethod
    def read(folder):
        import offsphere as osp

        with contextlib.chdir(folder):
            done = osp.export("dot", VECTORS, "faiss:v.faiss", ids=IDS, k=2, out="out")
            return done.strategy.name, done.rows, read_target("faiss:v.faiss")


@subject("record of an export", anything=True)
class ExportRecord:
    """By it a collection is known that holds other vectors than a model gave."""

    @staticmethod
    def write(folder):
        import offsphere as osp

        with contextlib.chdir(folder):
            osp.export("cosine", VECTORS, "faiss:v.faiss", ids=IDS, k=2, out="export/faiss-v")
        kept = (folder / "export/faiss-v/verification.json").read_bytes()
        for path in (*folder.rglob("*.*"),):
            if path.is_file():
                path.unlink()
        (folder / "export/faiss-v/verification.json").write_bytes(kept)

    @staticmethod
    def read(folder):
        from offsphere.engines.registry import engine_of
        from offsphere.engines.shipping.export_record import changed_for

        with contextlib.chdir(folder):
            return changed_for(*engine_of("faiss:v.faiss"), len(VECTORS))


@subject("strategy of an export")
class ExportStrategy:
    @staticmethod
    def kept(folder):
        from offsphere.engines.shipping.corpus import Corpus
        from offsphere.engines.shipping.kept_strategy import KeptStrategy
        from offsphere.engines.shipping.strategy import ExportWishes
        from offsphere.scoring.scorer import Scorer

        wishes = ExportWishes(k=2, goal=0.9)
        return KeptStrategy.of(folder, Scorer(), Corpus(VECTORS, IDS), wishes, "faiss:v.faiss"), Scorer()

    @staticmethod
    def write(folder):
        from offsphere.engines.metric import Metric
        from offsphere.engines.shipping.serving import Serving
        from offsphere.engines.shipping.strategy import Strategy

        kept, scorer = ExportStrategy.kept(folder)
        serving = Serving(scorer=scorer, metric=Metric.INNER_PRODUCT, lowered=True, radius=2.5)
        kept.write(Strategy(serving=serving, index="graph", effort=64, edges=(0.5, 1.25)))

    @staticmethod
    def read(folder):
        kept, scorer = ExportStrategy.kept(folder)
        strategy = kept.read(scorer)
        return strategy.to_json(), strategy.serving.radius, strategy.edges
