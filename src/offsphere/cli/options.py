"""Arguments and options that several commands share: what the data is, how it is judged, how results are printed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

MODEL_HELP = (
    "A hub name, a model folder, wordllama (static, needs no download), package:NAME (a model folder inside an "
    "installed Python package), or callable:module:function (texts -> array)."
)

TARGET_HELP = (
    "faiss:FILE, usearch:FILE, hnswlib:FILE, qdrant:FOLDER-OR-URL:NAME, postgres:DSN:TABLE, lancedb:FOLDER:TABLE, "
    "duckdb:FILE:TABLE, sqlite:FILE:TABLE, chroma:FOLDER-OR-URL:NAME, milvus:FILE-OR-URL:NAME"
)

Collection = Annotated[
    str | None,
    typer.Option(help=f"Take the documents' vectors from your search engine, which is only read. {TARGET_HELP}"),
]
IdField = Annotated[str | None, typer.Option(help="What the ids are called there. [what the engine calls them]")]
VectorColumn = Annotated[
    str | None,
    typer.Option(
        "--vector-column",
        "--vector-name",
        "--column",
        help="What the vectors are called there. [the only ones, or what the engine calls them]",
    ),
]
Data = Annotated[
    str,
    typer.Argument(
        help="A BEIR folder, a folder with corpus.jsonl alone, TREC files, an STS table, qrels, or a hub name."
    ),
]
Vectors = Annotated[
    Path | None,
    typer.Option(help="Folder with queries.* and documents.* (pairs: left.*, right.*). Default: DATA itself."),
]
Model = Annotated[str | None, typer.Option(help=f"Embed with this model. {MODEL_HELP}")]
Split = Annotated[str | None, typer.Option(help="Which judgments: test, dev, train, ...")]
IgnoreMissing = Annotated[
    bool, typer.Option("--ignore-missing", help="Go on without judgments for unknown queries or documents.")
]
Folds = Annotated[int, typer.Option(max=2**31 - 1, help="Folds of the cross-validation that tunes free parameters.")]
Worth = Annotated[
    float | None,
    typer.Option(help="The smallest gain that matters. [0.01, or 2 % of cosine's value where that is more]"),
]
Stored = Annotated[
    str | None,
    typer.Option(
        help="Also say what storing costs: float16, bfloat16, int8, binary, dim=128, dim=128+int8, binary+rerank=8, "
        "... joined by commas."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
NoVerify = Annotated[
    bool, typer.Option("--no-verify", help="Do not compare stored vectors with their checksums (about 1 s a GB).")
]
