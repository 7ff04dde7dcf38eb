"""``offsphere probe``: what an engine really does with vectors, found out by giving it some."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, cast

import typer

from offsphere.cli.options import shared_options as options
from offsphere.cli.progress_bar import progress_bar

if TYPE_CHECKING:
    from offsphere.engines.collection import IndexKind
    from offsphere.engines.trials.probed_metric import MetricProbe, Probe


def probe_command(
    target: Annotated[str, typer.Argument(help=f"An engine and where in it. {options.TARGET_HELP}")],
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Look at the collection that is there, and write nothing.")
    ] = False,
    index: Annotated[str | None, typer.Option(help="Which index to try: exact, graph or lists.")] = None,
    id_field: options.IdField = None,
    vector_column: options.VectorColumnName = None,
    as_json: options.AsJson = False,
) -> None:
    """Find out what an engine really does: its metric, its scores, what it stores, how many documents it gives.

    A scratch collection is made beside the target for each metric, and removed again.
    """
    from offsphere.engines.collection import index_kind
    from offsphere.engines.trials.probing import probe

    kind = cast("IndexKind | None", index_kind(index) if index is not None else None)
    with progress_bar("probing") as progress:
        seen = probe(
            target, read_only=read_only, index=kind, id_field=id_field, vector_name=vector_column, progress=progress
        )
    if as_json:
        typer.echo(json.dumps(seen.to_json(), indent=2))
    else:
        print_probe(seen)


def print_probe(seen: Probe) -> None:
    """Print what was seen, a block for each metric."""
    typer.secho(f"{seen.engine}, {seen.target}", bold=True)
    if seen.facts is not None:
        facts = seen.facts
        typer.echo(f"  {facts.rows:,} vectors of {facts.dimension} dimensions, {facts.index}, stored as {facts.stored}")
    if seen.unknown:
        typer.echo(f"  {seen.unknown}")
    for probed in seen.metrics:
        typer.echo()
        typer.secho(f"Set to {probed.metric} ({probed.index}):", bold=True)
        for name, value in _lines(probed):
            typer.echo(f"  {name:<18} {value}")


def _lines(probed: MetricProbe) -> list[tuple[str, str]]:
    """What was seen under one metric, by name."""
    form = probed.form
    if form is None:
        ranks, formula = "by no formula that we know", "none"
    else:
        ranks = f"by {form.metric}" if probed.as_set else f"by {form.metric}, not by what was set"
        rough = f" (to {form.error:.2%} of their spread: it stores fewer digits)" if probed.quantised else ""
        better = "greater" if form.greater_is_better else "smaller"
        formula = f"{form.inverse}; {better} is better{rough}"
    short = [f"{got:,} of {k:,}" for k, got in probed.returned if got < k]
    return [
        ("ranks", ranks),
        ("scores", formula),
        ("vectors", f"stored {probed.stored}" if probed.keeps_length is not None else probed.stored),
        ("augmentation", probed.augmentation),
        ("documents for k", f"only {', '.join(short)}" if short else "as many as asked for"),
        ("largest k", _largest_k(probed.largest_k)),
        ("exact ten best", f"{probed.recall:.1%} of them"),
        ("equal vectors", probed.ties),
        ("length zero", probed.zero),
    ]


def _largest_k(taken: int | None) -> str:
    """The largest k that was taken."""
    from offsphere.engines.trials.probed_metric import MOST_ASKED
    from offsphere.engines.trials.probing import ROWS

    if taken is None:
        return "not tried"
    if taken == ROWS:
        return f"{taken:,}, as many as there were, and more is refused"
    return f"{taken:,} is taken, and more is refused" if taken < MOST_ASKED else f"{taken:,} is taken, perhaps more"
