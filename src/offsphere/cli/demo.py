"""``offsphere demo``: a real task from the docstrings on this machine, embedded and compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo_command(
    out: Annotated[Path, typer.Option(help="Where to write the task and the vectors.")] = Path("demo"),
) -> None:
    """Make a task from the docstrings on this machine, embed it with the static model, compare every similarity."""
    from offsphere.cli.compare import compare_command
    from offsphere.cli.data import docstrings_command
    from offsphere.cli.embed import embed_command

    task, vectors = out / "task", out / "vectors"
    typer.echo(f"$ offsphere data docstrings --out {task}")
    docstrings_command(task)
    typer.echo(f"\n$ offsphere embed {task} --model wordllama --out {vectors}")
    embed_command(str(task), out=vectors)
    typer.echo(f"\n$ offsphere compare {task} --vectors {vectors}")
    compare_command(str(task), vectors)
