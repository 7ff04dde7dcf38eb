"""``offsphere demo``: a real task from the docstrings on this machine, embedded and audited."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo_command(
    out: Annotated[Path, typer.Option(help="Where to write the task, the vectors and the report.")] = Path("demo"),
) -> None:
    """Make a task from the docstrings on this machine, embed it with the static model, and audit it."""
    from offsphere.cli.audit import audit_command
    from offsphere.cli.data import docstrings_command

    task, vectors, report = out / "task", out / "vectors", out / "audit.html"
    typer.echo(f"$ offsphere data docstrings --out {task}")
    docstrings_command(task)
    typer.echo(f"\n$ offsphere audit {task} --model wordllama --vectors {vectors} --adapt --out {report}")
    audit_command(str(task), model="wordllama", vectors=vectors, adapt=True, out=report)
