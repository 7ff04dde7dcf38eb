"""``offsphere merge``: the states of shards become the result that one run prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from offsphere.base.errors import OffsphereError
from offsphere.cli.options import shared_options as options
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.steps.writable import check_writable

if TYPE_CHECKING:
    from offsphere.shards.measure_state import MeasureState


def merge_command(
    states: Annotated[list[Path], typer.Argument(help="States that --shard left, in any order, or merged ones.")],
    state: Annotated[
        Path | None, typer.Option("--state", help="Write the merged state here, and print no result.")
    ] = None,
    section: Annotated[
        list[str] | None,
        typer.Option(help="Of what was measured only this: lengths, isotropy or dimensions. Repeatable."),
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Folder to save the recommended scorer in.")] = None,
    every_row: Annotated[bool, typer.Option("--all", help="Show every row, not only the first ones.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Say also which names rank alike, and how often each scorer was chosen.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Merge the states of shards, in any order and grouping, into the very result that one run prints."""
    from offsphere.comparison.verdict import recommended_choice
    from offsphere.shards.compare_state import CompareState
    from offsphere.shards.measure_state import MeasureState
    from offsphere.shards.merged_evaluator import compared
    from offsphere.shards.state_files import merge_files, state_path, write_state

    if state is not None:
        check_writable(state_path(state))
    if save is not None:
        check_writable(save / "scorer.json")
    merged = merge_files(states)
    if section and not isinstance(merged, MeasureState):
        raise OffsphereError("--section is one of what was measured: leave it out for a comparison")
    if state is not None:
        path = write_state(state, merged)
        origin = merged.origin
        typer.echo(f"{path}: {len(origin.parts)} of {origin.shards} shards")
        return
    if isinstance(merged, MeasureState):
        _show_measured(merged, section, save, as_json=as_json)
        return
    if not isinstance(merged, CompareState):
        merged.origin.check_whole()
        raise OffsphereError(
            "these states are of the first pass: write what they fitted with --state FILE, and give it to "
            "offsphere compare --shard 1/7 --fitted FILE --state ANOTHER"
        )
    with progress_bar("comparing") as progress:
        table = compared(merged, progress)
    if save is not None:
        recommended_choice(table).scorer.save(save)
    if as_json:
        typer.echo(json.dumps(table.to_json(), indent=2))
        return
    from offsphere.cli.tables.comparison_table import print_comparison

    print_comparison(table, every_row=every_row, verbose=verbose)
    if save is not None:
        typer.echo(f"The scorer is in {save}.")


def _show_measured(state: MeasureState, sections: list[str] | None, save: Path | None, *, as_json: bool) -> None:
    """Print what all shards tell of their vectors."""
    from offsphere.cli.tables.shape_tables import print_shape
    from offsphere.shards.measure_state import measured

    if save is not None:
        raise OffsphereError("--save is for a comparison, these states are of measure: leave it out")
    shape = measured(state, sections)
    if as_json:
        typer.echo(json.dumps(shape.to_json(), indent=2, allow_nan=False))
    else:
        print_shape(shape)
