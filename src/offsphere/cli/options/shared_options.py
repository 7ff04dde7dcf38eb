"""Arguments and options that several commands share: what the data is, how it is judged, how results are printed.

Those that always come together are groups, which ``with_groups`` takes apart for typer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

if TYPE_CHECKING:
    from offsphere.encode.embedded_task import EmbeddedSource
    from offsphere.encode.runtime import Runtime

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

IdField = Annotated[str | None, typer.Option(help="What the ids are called there. [what the engine calls them]")]
VectorColumnName = Annotated[
    str | None,
    typer.Option(
        "--vector-column",
        "--vector-name",
        "--column",
        help="What the vectors are called there. [the only ones, or what the engine calls them]",
    ),
]
DATA_HELP = (
    "A BEIR folder, a folder with corpus.jsonl alone, or of texts, a .parquet table of texts and their vectors, TREC "
    "files, an STS table, qrels, pictures with "
    "captions or in a folder for each class, arrays of pictures, or a hub name."
)
Data = Annotated[str, typer.Argument(help=DATA_HELP)]
MaybeData = Annotated[str | None, typer.Argument(help=DATA_HELP, show_default=False)]
VectorFolder = Annotated[
    Path | None,
    typer.Option(help="Folder with queries.* and documents.* (pairs: left.*, right.*). Default: DATA itself."),
]
ModelName = Annotated[str | None, typer.Option(help=f"Embed with this model. {MODEL_HELP}")]
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
ShardName = Annotated[
    str | None,
    typer.Option("--shard", help="Work on one of n shards of the documents alone, such as 2/7, and leave a --state."),
]
StateFile = Annotated[Path | None, typer.Option("--state", help="Where the state of a --shard is written.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
NoVerify = Annotated[
    bool, typer.Option("--no-verify", help="Do not compare stored vectors with their checksums (about 1 s a GB).")
]


Device = Annotated[
    str | None,
    typer.Option(help="Where torch runs models and trains: cpu, cuda, cuda:1, mps. [what torch finds]"),
]


@dataclass(frozen=True, slots=True)
class RuntimeOptions:
    """How a model of sentence-transformers is run."""

    backend: Annotated[
        str,
        typer.Option(help="Who runs a model of sentence-transformers: torch, onnx or openvino.", show_default="torch"),
    ] = "torch"
    model_dtype: Annotated[
        str | None,
        typer.Option(
            "--model-dtype",
            help="The numbers such a model computes in: float32, float16 or bfloat16. [as it was saved]",
        ),
    ] = None
    processes: Annotated[
        int, typer.Option("--processes", min=1, help="Processes that share such a model's work, each with the model.")
    ] = 1

    device: Device = None

    @property
    def runtime(self) -> Runtime:
        """What was typed, as the library takes it."""
        from offsphere.encode.runtime import Runtime

        return Runtime(self.backend, self.model_dtype, self.processes, self.device)


QueryModel = Annotated[
    str | None,
    typer.Option(help="Embed queries with another model than the documents, of another width if need be."),
]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The model of the documents, the one of the queries where that is another, and how both are run."""

    model: ModelName = None
    query_model: QueryModel = None
    running: RuntimeOptions = field(default_factory=RuntimeOptions)

    def source(self, data: str, vectors: Path | None, reading: VerifiedReading) -> EmbeddedSource:
        """Where a task and its vectors come from."""
        from offsphere.factors.task_source import task_source

        return task_source(
            data,
            self.model,
            vectors,
            verify=not reading.no_verify,
            query_model=self.query_model,
            runtime=self.running.runtime,
            **reading.for_texts,
        )


class TextReading(TypedDict):
    """How a task without vectors is loaded, as keywords."""

    ignore_missing: bool
    ignore_broken: bool
    reverse: bool


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """What is done with data that is not whole, and which side asks."""

    ignore_missing: IgnoreMissing = False
    ignore_broken: IgnoreBroken = False
    reverse: Reverse = False

    @property
    def for_texts(self) -> TextReading:
        """What was typed, as whatever loads a task without vectors takes it."""
        return {"ignore_missing": self.ignore_missing, "ignore_broken": self.ignore_broken, "reverse": self.reverse}


@dataclass(frozen=True, slots=True)
class VerifiedReading(ReadingOptions):
    """What is done with data that is not whole, with stored vectors among it."""

    no_verify: NoVerify = False
