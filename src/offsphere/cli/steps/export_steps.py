"""What ``export`` and ``audit --export`` share: where the record goes, what is printed, how it ends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from offsphere.base.errors import ParameterError
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.tables.paragraphs import echo_items, echo_paragraph, paragraph

if TYPE_CHECKING:
    from offsphere.encode.embedded_task import EmbeddedSource
    from offsphere.engines.shipping.exporting import Export
    from offsphere.scoring.scorer import Scorer

MISSED = 1  # the exit code where the engine returns less than asked for


def export_recommended(
    scorer: Scorer,
    source: EmbeddedSource,
    split: str | None,
    target: str,
    *,
    replace: bool = False,
    quiet: bool = False,
) -> None:
    """Put what an audit recommends into a search engine, with the vectors that it was found on."""
    from offsphere.data.task_kinds import as_ranking
    from offsphere.engines.shipping.corpus import Corpus
    from offsphere.engines.shipping.exporting import SCORER, export

    task, vectors = source.load(split)
    ranking = as_ranking(task, vectors)
    if ranking is None:
        raise ParameterError("pairs have no documents to search: only what was found on a ranking can be exported")
    corpus = Corpus.of(ranking[1], task.sides[-1].ids)
    folder = default_export_folder(target)
    with progress_bar("exporting") as progress:
        done = export(scorer, corpus, target, replace=replace, out=folder, progress=progress)
    if not quiet:
        typer.echo()
        # what is advised are options of the other command
        print_export(done, folder, f"What to change, by offsphere export {folder / SCORER} --to {done.target}")
    if not done.passed:
        raise typer.Exit(MISSED)


def default_export_folder(target: str) -> Path:
    """Where an export keeps its record where nobody says."""
    from offsphere.engines.registry import engine_of
    from offsphere.engines.shipping.export_record import export_folder

    return export_folder(*engine_of(target))


def print_export(done: Export, folder: Path, advice: str = "What to change") -> None:
    """Print what was raced, what stands where, whether it returns what was measured, and how to ask it.

    Args:
        done: The export.
        folder: Where its record is.
        advice: The heading of what to change where the goal was missed.
    """
    if done.raced:
        width = max(len(strategy.name) for strategy, _ in done.raced)
        typer.secho(f"{'strategy':<{width}} {'recall':>7} {'ms a query':>11}", bold=True)
        for strategy, trial in done.raced:
            typer.echo(f"{strategy.name:<{width}} {trial.recall:>7.3f} {trial.milliseconds:>11.3f}")
        typer.echo()
        if done.raced_on is not None and done.raced_on < done.rows + done.left_out:
            typer.echo(
                paragraph(
                    f"Raced on {done.raced_on:,} of the {done.rows + done.left_out:,} documents, drawn at random: "
                    "recall and times are of these, but that of an exact search, which grows as documents do, is made "
                    "that of all. What was taken is tried on all:"
                )
            )
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
    echo_items("Mind", done.notes)
    echo_items(advice, done.advice)
    typer.echo()
    typer.secho("Ask it so (vectors: what the model gives for one query, as a row):", bold=True)
    typer.echo("\n".join(f"    {line}" for line in done.snippet.strip().splitlines()))
    typer.echo()
    echo_paragraph(f"The scorer, verification.json and query.py are in {folder}.")
