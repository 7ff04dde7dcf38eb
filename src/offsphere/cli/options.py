"""Options that commands which learn have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from offsphere.cli.embed import MODEL_HELP

Data = Annotated[str, typer.Argument(help="A BEIR folder, TREC files, an STS table, text pairs, qrels, or a hub name.")]
Vectors = Annotated[
    Path | None, typer.Option(help="Folder with queries.*, queries-train.* and documents.*. Default: DATA itself.")
]
Model = Annotated[str | None, typer.Option(help=f"Embed with this model. {MODEL_HELP}")]
Batch = Annotated[int, typer.Option(help="Pairs in a batch.")]
Epochs = Annotated[int | None, typer.Option(help="At most. [10, and at least 500 steps]")]
HardNegatives = Annotated[int, typer.Option(help="Mined for each query by the scorer in training.")]
Split = Annotated[str | None, typer.Option(help="Judge by this split. [test]")]
TrainSplit = Annotated[str | None, typer.Option(help="Learn from this split. [train, if there is one]")]
KnownItems = Annotated[
    bool, typer.Option("--known-items", help="Learn from the corpus too: each title asks for its text.")
]
NewDocuments = Annotated[
    bool, typer.Option("--new-documents", help="Stop by queries whose relevant documents were not learned from.")
]
Metric = Annotated[str | None, typer.Option(help="ndcg@10, mrr@10, ..., spearman. [ndcg@10 or spearman]")]
Seed = Annotated[int, typer.Option(min=0, help="The first seed.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Any other field of a recipe, as NAME=VALUE: uniformity=0.1, length_variance=0.1, length_target=1,0.1, "
        "grad_scale=1, cut=3, weight_decay=0, patience=20, ... Repeatable.",
    ),
]
IgnoreMissing = Annotated[
    bool, typer.Option("--ignore-missing", help="Go on without judgments for unknown queries or documents.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
