"""``offsphere export``: the chosen scorer in a search engine, and the proof that it returns what was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from offsphere.cli import options
from offsphere.cli.paragraphs import echo_items, paragraph
from offsphere.cli.progress_bar import progress_bar

if TYPE_CHECKING:
    from offsphere.engines.collection import IndexKind, StoredForm
    from offsphere.engines.export import Export

MISSED = 1  # the exit code where the engine returns less than asked for


def export_command(
    scorer: Annotated[
        str, typer.Argument(help="A name as compare prints it, or the folder of a saved scorer or adapter.")
    ],
    vectors: Annotated[
        Path,
        typer.Option(help="Folder with documents.* (and queries.*, to try it with), a store, or a file of vectors."),
    ],
    to: Annotated[str, typer.Option(help=f"Where to. {options.TARGET_HELP}")],
    k: Annotated[int, typer.Option(min=1, max=1_000_000, help="How many documents a query gets.")] = 10,
    goal: Annotated[float, typer.Option(help="The share of the exact answer that queries should get.")] = 0.95,
    index: Annotated[str | None, typer.Option(help="exact, graph or lists. [what suits the engine]")] = None,
    effort: Annotated[
        int | None, typer.Option(min=1, help="How many candidates a graph looks at. [the least that meets the goal]")
    ] = None,
    stored: Annotated[str, typer.Option(help="float32, float16, int8 or binary, where the engine has it.")] = "float32",
    tune: Annotated[
        bool, typer.Option("--tune", help="Race several ways to serve it on your vectors, and take the cheapest.")
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
    from offsphere.engines.corpus import Corpus
    from offsphere.engines.export import export
    from offsphere.engines.registry import engine_of

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
            stored=cast("StoredForm", form),
            tune=tune,
            replace=replace,
            out=out or default_folder(to),
            seed=seed,
            progress=progress,
        )
    if as_json:
        typer.echo(json.dumps(done.to_json(), indent=2))
    else:
        print_export(done, out or default_folder(to))
    if not done.passed:
        raise typer.Exit(MISSED)


def default_folder(target: str) -> Path:
    """Where an export keeps its record where nobody says."""
    from offsphere.engines.registry import engine_of

    engine, where = engine_of(target)
    return Path("export") / f"{engine.prefix}-{where.name or Path(where.location).stem}"


def print_export(done: Export, folder: Path) -> None:
    """Print what was raced, what stands where, whether it returns what was measured, and how to ask it."""
    if done.raced:
        width = max(len(strategy.name) for strategy, _ in done.raced)
        typer.secho(f"{'strategy':<{width}} {'recall':>7} {'ms a query':>11}", bold=True)
        for strategy, trial in done.raced:
            typer.echo(f"{strategy.name:<{width}} {trial.recall:>7.3f} {trial.milliseconds:>11.3f}")
        typer.echo()
    seen = done.verification
    left_out = f", {done.left_out:,} without a place in the ranking left out" if done.left_out else ""
    typer.echo(
        paragraph(f"{done.target}: {done.rows:,} vectors for {done.scorer.name}{left_out}; {done.strategy.name}.")
    )
    source = "of your queries" if seen.made_of == "queries" else "documents as queries, since there are none"
    error = f" Scores differ from ours by at most {seen.score_error:.1e}." if seen.score_error is not None else ""
    verdict = "It returns what was measured" if done.passed else "It returns less than asked for"
    typer.echo(
        paragraph(
            f"{verdict}: {seen.recall:.1%} of the exact {seen.k} best (the worst query {seen.worst:.0%}, goal "
            f"{done.goal:.0%}), tried with {seen.queries} {source}.{error}"
        )
    )
    echo_items("What to change", done.advice)
    typer.echo()
    typer.secho("Ask it so (vectors: what the model gives for one query, as a row):", bold=True)
    typer.echo("\n".join(f"    {line}" for line in done.snippet.strip().splitlines()))
    typer.echo()
    typer.echo(f"The scorer, verification.json and query.py are in {folder}.")
