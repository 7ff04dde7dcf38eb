"""``offsphere export``: the chosen scorer in a search engine, and the proof that it returns what was measured."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from offsphere.base.errors import ParameterError
from offsphere.cli.options import shared_options as options
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.steps.export_steps import MISSED, default_export_folder, print_export
from offsphere.cli.tables.paragraphs import echo_items, paragraph

if TYPE_CHECKING:
    from offsphere.engines.collection import IndexKind, NumberForm

MODEL_PREFIX = "sentence-transformers:"


def export_command(
    scorer: Annotated[
        str, typer.Argument(help="A name as compare prints it, or the folder of a saved scorer or adapter.")
    ],
    to: Annotated[str, typer.Option(help=f"Where to. {options.TARGET_HELP}, or {MODEL_PREFIX}FOLDER.")],
    vectors: Annotated[
        Path | None,
        typer.Option(help="Folder with documents.* (and queries.*, to try it with), a store, or a file of vectors."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help=f"The model that made the vectors, for {MODEL_PREFIX}FOLDER.")
    ] = None,
    k: Annotated[int, typer.Option(min=1, max=1_000_000, help="How many documents a query gets.")] = 10,
    goal: Annotated[float, typer.Option(help="The share of the exact answer that queries should get.")] = 0.95,
    index: Annotated[str | None, typer.Option(help="exact, graph or lists. [what suits the engine]")] = None,
    effort: Annotated[
        int | None, typer.Option(min=1, help="How many candidates a graph looks at. [the least that meets the goal]")
    ] = None,
    stored: Annotated[str, typer.Option(help="float32, float16, int8 or binary, where the engine has it.")] = "float32",
    tune: Annotated[
        bool,
        typer.Option(
            "--tune", help="Race several ways to serve it on your vectors, and take the cheapest. Not with --effort."
        ),
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a collection that holds something else.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the scorer, verification.json and query.py. [export/ENGINE-NAME]")
    ] = None,
    no_verify: options.NoVerify = False,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the choice of queries to try it with.")] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Put a scorer into a search engine, and try there whether it returns what was measured.

    A killed export goes on where it was. It ends with 1 where the engine returns less than the goal.
    """
    from offsphere.engines.collection import index_kind, stored_form
    from offsphere.engines.registry import engine_of
    from offsphere.engines.shipping.corpus import Corpus
    from offsphere.engines.shipping.exporting import export

    if to.startswith(MODEL_PREFIX):
        _refuse({"--index": index, "--effort": effort, "--tune": tune, "--out": out}, "search engines")
        _refuse({"--stored": stored != "float32"}, "search engines")
        folder = to.removeprefix(MODEL_PREFIX)
        _export_model(scorer, vectors, folder, model, replace=replace, verify=not no_verify, as_json=as_json)
        return
    _refuse({"--model": model}, f"{MODEL_PREFIX}FOLDER")
    if vectors is None:
        raise ParameterError("which vectors? Give those of the documents with --vectors DIR")
    engine_of(to)  # what cannot be read is said before any file is read
    kind = index_kind(index) if index is not None else None
    form = stored_form(stored)
    corpus = Corpus.of(vectors, verify=not no_verify)
    with progress_bar("exporting") as progress:
        done = export(
            scorer,
            corpus,
            to,
            k=k,
            goal=goal,
            index=cast("IndexKind | None", kind),
            effort=effort,
            stored=cast("NumberForm", form),
            tune=tune,
            replace=replace,
            out=out or default_export_folder(to),
            seed=seed,
            progress=progress,
        )
    if as_json:
        typer.echo(json.dumps(done.to_json(), indent=2))
    else:
        print_export(done, out or default_export_folder(to))
    if not done.passed:
        raise typer.Exit(MISSED)


def _refuse(options: Mapping[str, object], meant_for: str) -> None:
    """Refuse options that would do nothing."""
    for name, value in options.items():
        if value:
            raise ParameterError(f"{name} is for {meant_for}: leave it out")


def _export_model(
    scorer: str,
    vectors: Path | None,
    folder: str,
    model: str | None,
    *,
    replace: bool,
    verify: bool,
    as_json: bool,
) -> None:
    """Fold a scorer into the stages of a model."""
    from dataclasses import asdict

    from offsphere.engines.models.model_folder import export_model
    from offsphere.engines.shipping.corpus import Corpus
    from offsphere.scoring.names import read_scorer

    if model is None:
        raise ParameterError("which model is to end in the scorer? Give the one that made the vectors with --model")
    chosen = read_scorer(scorer)
    if chosen.needs_fit:
        if vectors is None:
            raise ParameterError(f"{chosen.name} must be fitted on documents first: give their vectors with --vectors")
        chosen = chosen.fit(Corpus.of(vectors, verify=verify).vectors)
    done = export_model(chosen, model, folder, replace=replace)
    if as_json:
        typer.echo(json.dumps(asdict(done), indent=2))
        return
    stages = ", ".join(done.added) or "nothing: the model does so already"
    alone = "sentence-transformers alone loads it" if done.plain else "offsphere must be installed to load it"
    typer.echo(paragraph(f"{done.folder}: {done.model} that ends in {done.scorer}. Added: {stages}; {alone}."))
    typer.echo(
        paragraph(
            f"Its vectors have {done.dimension} dimensions; the {done.similarity} of encode_query and encode_document "
            f"is the score, which differs from ours by at most {done.deviation:.1e} on {done.texts} texts."
        )
    )
    echo_items("Mind", done.notes)
