"""Arguments and options that the commands which learn share: adapt, ablate, train and sweep."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

MOST_SEEDS = 10_000  # trainings that anybody waits for

# what is learned from, and what is judged by
LearningData = Annotated[
    str, typer.Argument(help="A BEIR folder, TREC files, an STS table, text pairs, qrels, or a hub name.")
]
LearningVectors = Annotated[
    Path | None, typer.Option(help="Folder with queries.*, queries-train.* and documents.*. Default: DATA itself.")
]
JudgedSplit = Annotated[str | None, typer.Option(help="JudgeData by this split. [test]")]
TrainSplit = Annotated[str | None, typer.Option(help="Learn from this split. [train, if there is one]")]
HeldOutData = Annotated[
    str | None, typer.Option(help="Stop by this data (DATA or DATA:SPLIT), instead of queries put aside.")
]
JudgeData = Annotated[str | None, typer.Option(help="JudgeData by this data, instead of another split of DATA.")]
KnownItems = Annotated[
    bool, typer.Option("--known-items", help="Learn from the corpus too: each title asks for its text.")
]
NewDocuments = Annotated[
    bool, typer.Option("--new-documents", help="Stop by queries whose relevant documents were not learned from.")
]
MetricName = Annotated[str | None, typer.Option(help="ndcg@10, mrr@10, ..., spearman. [ndcg@10 or spearman]")]

Figures = Annotated[
    str | None, typer.Option(help="Draw one figure a quantity into OUT/figures: svg, png, pdf, joined by commas.")
]

ReportTo = Annotated[
    list[str] | None,
    typer.Option(
        "--report-to",
        help="A tracker that follows the training: tensorboard (into runs/), mlflow or wandb. Repeatable. [none]",
    ),
]

# the recipe
TrainedModel = Annotated[
    str,
    typer.Option(
        help="The model to train: a hub name, a folder, package:NAME, wordllama, a model2vec folder, an image tower "
        "such as scratch:resnet:32, or TEXT+IMAGE, which joins two."
    ),
]
RecipeName = Annotated[str | None, typer.Option(help="A recipe to start from: see offsphere recipes.")]
RecipeFile = Annotated[
    Path | None, typer.Option(help="Fields of a recipe from a TOML or YAML file; what is typed overrides it.")
]
AdapterFields = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Any other field of a recipe, as NAME=VALUE: uniformity=0.1, length_variance=0.1, length_target=1,0.1, "
        "grad_scale=1, cut=3, weight_decay=0, patience=20, ... Repeatable.",
    ),
]
AdapterEpochs = Annotated[
    int | None, typer.Option(help="At most. [10, but at least 500 steps and at most 1,280,000 pairs in all]")
]
Steps = Annotated[int | None, typer.Option(help="Steps, instead of epochs.")]
MaxTokens = Annotated[int | None, typer.Option(help="Of a text that the model looks at. [as the model has it]")]
FromScratch = Annotated[bool, typer.Option("--from-scratch", help="Forget the weights of the model first.")]
FirstSeed = Annotated[int, typer.Option(min=0, max=2**31 - 1, help="The first seed.")]


@dataclass(frozen=True, slots=True)
class PartOptions:
    """Which part of the data an adapter learns from, which judges it, and by what."""

    split: JudgedSplit = None
    train_split: TrainSplit = None
    known_items: KnownItems = False
    new_documents: NewDocuments = False
    metric: MetricName = None
