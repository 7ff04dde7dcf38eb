"""Arguments and options that several commands share: what the data is, how it is judged, how results are printed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

MODEL_HELP = (
    "A hub name, a model folder, wordllama (static, needs no download), package:NAME (a model folder inside an "
    "installed Python package), openai:MODEL or http://HOST/v1#MODEL (an embedding API), or callable:module:function "
    "(texts or pictures -> array)."
)

# the forms of all engines, written out since importing them would slow every start: a test compares
TARGET_HELP = (
    "faiss:FILE, qdrant:FOLDER-OR-URL:COLLECTION, qdrant-edge:FOLDER, chroma:FOLDER-OR-URL:COLLECTION, "
    "milvus:FILE-OR-URL:COLLECTION, postgres:DSN:TABLE, lancedb:FOLDER:TABLE, duckdb:FILE:TABLE, sqlite:FILE:TABLE, "
    "usearch:FILE, hnswlib:FILE"
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
DATA_HELP = (
    "A BEIR folder, a folder with corpus.jsonl alone, TREC files, an STS table, qrels, pictures with "
    "captions or in a folder for each class, arrays of pictures, or a hub name."
)
Data = Annotated[str, typer.Argument(help=DATA_HELP)]
MaybeData = Annotated[str | None, typer.Argument(help=DATA_HELP, show_default=False)]
Vectors = Annotated[
    Path | None,
    typer.Option(help="Folder with queries.* and documents.* (pairs: left.*, right.*). Default: DATA itself."),
]
Model = Annotated[str | None, typer.Option(help=f"Embed with this model. {MODEL_HELP}")]
QueryModel = Annotated[
    str | None,
    typer.Option(help="Embed queries with another model than the documents, of another width if need be."),
]
Backend = Annotated[
    str, typer.Option(help="Who runs a model of sentence-transformers: torch, onnx or openvino.", show_default="torch")
]
ModelDtype = Annotated[
    str | None,
    typer.Option(
        "--model-dtype",
        help="The numbers such a model computes in: float32, float16 or bfloat16. [as it was saved]",
    ),
]
Processes = Annotated[
    int, typer.Option("--processes", min=1, help="Processes that share such a model's work, each with the model.")
]
Split = Annotated[str | None, typer.Option(help="Which judgments: test, dev, train, ...")]
IgnoreMissing = Annotated[
    bool, typer.Option("--ignore-missing", help="Go on without judgments for unknown queries or documents.")
]
IgnoreBroken = Annotated[
    bool, typer.Option("--ignore-broken", help="Go on without pictures that cannot be read, and say how many.")
]
Reverse = Annotated[
    bool,
    typer.Option("--reverse", help="Let what is searched ask: images for their captions, where DATA has captions."),
]
Folds = Annotated[int, typer.Option(max=2**31 - 1, help="Folds of the cross-validation that tunes free parameters.")]
By = Annotated[
    str | None, typer.Option(help="Break the table down by a field that groups the queries: type, hops, ...")
]
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
Run = Annotated[
    list[Path] | None,
    typer.Option("--run", help="A TREC run or a ranx run (.json) of another system, as a row. Repeatable."),
]
Tokens = Annotated[
    str | None,
    typer.Option(
        help="Similarities over tokens as rows: wrd, softcos, mean, maxsim, one of them as wrd(uniform), joined by "
        "commas, or all. Rankings: the first documents are ranked again by them."
    ),
]
TokenModel = Annotated[str | None, typer.Option(help="Whose tokens: a static model or a transformer. [--model]")]
TokenLayer = Annotated[
    str, typer.Option("--token-layer", help="Of a transformer's tokens: last, all, or numbers such as 0,6.")
]
TokenTop = Annotated[
    int, typer.Option("--token-top", min=2, help="How many documents a query are ranked again by their tokens.")
]
WithBm25 = Annotated[
    bool, typer.Option("--bm25", help="BM25 over the texts as a row, alone and joined with cosine (or with --fuse).")
]
Fuse = Annotated[
    list[str] | None,
    typer.Option("--fuse", help="Join BM25 with this scorer, by ranks and by tuned scores. Repeatable. [cosine]"),
]
JudgedBy = Annotated[
    str | None,
    typer.Option(
        "--judge",
        help="cross-encoder:M as a row, M a folder or a full name of the hub: reads pairs, ranks the nearest again.",
    ),
]
JudgedTop = Annotated[int, typer.Option("--judge-top", min=1, help="How many documents a query the judge ranks again.")]
Precision = Annotated[
    float | None, typer.Option(help="Where to cut: so much of what is shown is to be relevant, such as 0.9.")
]
Recall = Annotated[
    float | None, typer.Option(help="Where to cut: so much of what is relevant is to be shown, such as 0.9.")
]
FalseAlarms = Annotated[
    float | None,
    typer.Option(
        "--false-alarms", help="Where to cut: a query to which nothing is relevant is shown something so seldom."
    ),
]
More = Annotated[
    bool,
    typer.Option(
        "--more",
        help="Compare also layer normalisation, mean projection, whitening by the spectrum, and priors of the length.",
    ),
]
Shard = Annotated[
    str | None,
    typer.Option("--shard", help="Work on one of n shards of the documents alone, such as 2/7, and leave a --state."),
]
StateFile = Annotated[Path | None, typer.Option("--state", help="Where the state of a --shard is written.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
NoVerify = Annotated[
    bool, typer.Option("--no-verify", help="Do not compare stored vectors with their checksums (about 1 s a GB).")
]
