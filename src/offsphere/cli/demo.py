"""``offsphere demo``: make a small task and compare every similarity on it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo_command(
    out: Annotated[Path, typer.Option(help="Where to write the task.")] = Path("demo"),
) -> None:
    """Make a small task of random vectors with a known answer, and compare every similarity on it."""
    from offsphere.cli.compare import compare_command
    from offsphere.tasks.generated import write_generated

    write_generated(out)
    typer.echo(f"A generated task is in {out}: a document's length is its authority, blurred by noise.")
    typer.echo(f"$ offsphere compare {out}\n")
    compare_command(str(out))
