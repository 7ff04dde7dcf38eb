"""Who reads files: all modules that call readers of ``offsphere.base.reading``, and the format by which each is fuzzed.

The list is kept by tests: a module that is new to it fails until it has a format or a reason (``test_readers.py``), and
a format that does not come by its modules fails too (``test_fuzz.py``).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import offsphere

HOME = Path(offsphere.__file__).parent
ROOM = "offsphere.base.reading."
# what the room has beside its readers: facts, checks of values, and writers
NO_READERS = {"is_there", "number", "record_of", "refuse_bomb", "refuse_repeated", "cannot_parse", "cannot_read"}
NO_READERS |= {"npz_bytes", "picture_of_pixels", "sealed_bytes", "to_rgb", "widen_bfloat16", "write_sealed"}
NO_READERS |= {"LazyRows", "Tensor"}

FUZZED_AS = {
    "answering.asking": "kept answer of a reader",
    "auditing.study.run_study": "row of a study",
    "auditing.study.study_cell": "cells of a study, TOML",
    "base.cache": "cache entry",
    "base.checksums": "export, .npy",
    "data.embedded_table": "table of texts and vectors",
    "data.formats.beir": "BEIR folder",
    "data.formats.captions": "captions",
    "data.formats.corpus_files": "corpus, parquet",
    "data.formats.edge_files": "edges of a graph",
    "data.formats.interaction_table": "interactions, parquet",
    "data.formats.item_texts": "texts of items, CSV",
    "data.formats.karpathy": "Karpathy's JSON",
    "data.formats.labelled_texts": "labelled texts",
    "data.formats.picture_arrays": "arrays of pictures, npz",
    "data.formats.picture_tables": "table of pictures, saved by datasets",
    "data.formats.qrels": "qrels alone",
    "data.formats.qrels_alone": "qrels alone",
    "data.formats.query_fields": "fields of queries",
    "data.formats.run_files": "TREC run",
    "data.formats.sts": "table of scored pairs",
    "data.formats.text_files": "folder of texts",
    "data.formats.text_pairs": "text pairs, JSON lines",
    "data.formats.trec": "TREC folder",
    "data.image": "folders of classes",
    "data.parquet_rows": "parquet",
    "data.picture_check": "folders of classes",
    "data.store": "store",
    "data.store_writer": "store in the making",
    "data.vector_files": "npy",
    "data.vector_parts": "parts of vectors",
    "data.vector_tables": "table of vectors, a column a dimension",
    "encode.static": "model2vec folder",
    "encode.static_files": "model2vec folder",
    "engines.duckdb": "DuckDB file",
    "engines.shipping.export_record": "record of an export",
    "engines.shipping.exporting": "folder of an export",
    "engines.faiss": "FAISS index of others, HNSW4",
    "engines.faiss_files": "FAISS index of others, HNSW4",
    "engines.faiss_vectors": "FAISS index of others, HNSW4",
    "engines.shipping.filling": "folder of an export",
    "engines.hnswlib": "hnswlib index",
    "engines.shipping.kept_strategy": "strategy of an export",
    "engines.qdrant_folder": "Qdrant collection",
    "engines.qdrant_points": "Qdrant collection",
    "engines.usearch": "usearch index",
    "factors.factor_files": "sparse interactions",
    "factors.node_features": "features of nodes, .npz",
    "geometry.query_groups": "groups of queries",
    "learning.ablation.ablation": "ablation result",
    "learning.encoders.callbacks": "folder of a training",
    "learning.encoders.fit": "measurements of a training",
    "learning.encoders.recipe_file": "recipe, TOML",
    "learning.encoders.training_folder": "folder of a training",
    "scoring.bias_files": "scorer folder",
    "scoring.cut": "threshold of a scorer",
    "scoring.scorer_files": "scorer folder",
    "scoring.training_record": "training record",
    "shards.state_files": "state of a shard, compare",
}
NOT_FUZZED = {
    "answering.reader": "what a server answers, no file: hostile servers are in tests/answering",
    "cli.classify": "lines of text, as those of the ids beside vectors are",
    "cli.data": "lines of text, as those of the ids beside vectors are",
    "data.located_side": "digests of bytes that tell the order of vectors, which are opened, and parsed, elsewhere",
    "data.download": "the package of a data set, whose digest is compared before it is opened",
    "data.item_files": "bytes that are compared with those to be written, and never parsed",
    "encode.served": "what a server answers, no file: hostile servers are in tests/encode",
    "engines.chroma_copy": "SQLite copies the database of Chroma, and the package of Chroma opens the copy",
    "engines.files.exchange": "a database is opened to say in one line why it cannot be",
    "engines.index_file": "a digest of whatever bytes stand there",
    "engines.models.model_folder": "a folder that was written a moment ago",
    "engines.qdrant_edge": "one file of a shard, before the package of Qdrant opens all of them",
    "learning.encoders.card": "the card that was written a moment ago",
    "learning.encoders.usual_rates": "whatever cannot be read is told by whoever loads the model",
}


def callers() -> dict[str, set[str]]:
    """The modules that use readers, each with those that it uses."""
    found = {}
    for path in sorted(HOME.rglob("*.py")):
        module = module_of(str(path))
        used = readers_in(ast.parse(path.read_text()))
        if used and not module.startswith("base.reading."):
            found[module] = used
    return found


def readers_in(tree: ast.AST) -> set[str]:
    """The readers that a module imports from their room."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = {alias.name for node in imports if f"{node.module}.".startswith(ROOM) for alias in node.names}
    return {name for name in names - NO_READERS if not name.isupper()}


def module_of(path: str) -> str:
    """The name of a module within the package; nothing where it is not of ours."""
    file = Path(path)
    return ".".join(file.relative_to(HOME).with_suffix("").parts) if file.is_relative_to(HOME) else ""


def modules_that_ran(call: Callable[[], Any]) -> tuple[Any, set[str]]:
    """What a call gives, and the modules of ours of which a function ran meanwhile."""
    files = set()

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            files.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        given = call()
    finally:
        sys.setprofile(None)
    return given, {module_of(file) for file in files} - {""}
