"""The command line: one file a command, and each parses, calls the library and shows what came of it.

What several commands take is in ``options``, what they do between options and tables in ``steps``, what they print in
``tables``; beside the commands are how they end (``endings.py``) and the bar (``progress_bar.py``).
"""

from __future__ import annotations

import sys

import typer

from offsphere.base.version import __version__
from offsphere.cli.ablate import ablate_command
from offsphere.cli.adapt import adapt_command
from offsphere.cli.audit import audit_command
from offsphere.cli.cache_command import cache_app
from offsphere.cli.classify import classify_command
from offsphere.cli.compare import compare_command
from offsphere.cli.data import data_app
from offsphere.cli.demo import demo_command
from offsphere.cli.doctor import doctor_command
from offsphere.cli.embed import embed_command
from offsphere.cli.endings import Commands, one_line_endings
from offsphere.cli.export import export_command
from offsphere.cli.factorize import factorize_app
from offsphere.cli.measure import measure_command
from offsphere.cli.merge import merge_command
from offsphere.cli.probe import probe_command
from offsphere.cli.recipes import recipes_command
from offsphere.cli.study import study_command
from offsphere.cli.sweep import sweep_command
from offsphere.cli.threshold import threshold_command
from offsphere.cli.train import train_command

app = typer.Typer(
    name="offsphere",
    cls=Commands,
    help="Find out what the length of embedding vectors is worth, and use it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("audit")(audit_command)
app.command("compare")(compare_command)
app.command("merge")(merge_command)
app.command("threshold")(threshold_command)
app.command("measure")(measure_command)
app.command("classify")(classify_command)
app.command("embed")(embed_command)
app.command("adapt")(adapt_command)
app.command("ablate")(ablate_command)
app.command("train")(train_command)
app.command("recipes")(recipes_command)
app.command("study")(study_command)
app.command("sweep")(sweep_command)
app.command("export")(export_command)
app.command("probe")(probe_command)
app.add_typer(factorize_app, name="factorize")
app.add_typer(data_app, name="data")
app.add_typer(cache_app, name="cache")
app.command("demo")(demo_command)
app.command("doctor")(doctor_command)


@app.callback(invoke_without_command=True)
def offsphere(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),  # noqa: FBT003
    debug: bool = typer.Option(False, "--debug", help="Show where an error came from."),  # noqa: ARG001, FBT003  # main
) -> None:
    """Find out what the length of embedding vectors is worth, and use it."""
    if version:
        typer.echo(f"offsphere {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command that was typed; whatever goes wrong is one line, and ``--debug`` shows where it went wrong."""
    typed = sys.argv[1:]
    with one_line_endings(debug="--debug" in typed):
        app(args=[word for word in typed if word != "--debug"])
