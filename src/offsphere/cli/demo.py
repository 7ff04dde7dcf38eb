"""``offsphere demo``: a real task from the docstrings on this machine, embedded and audited."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from offsphere.base.errors import MissingExtraError
from offsphere.base.extras import is_installed
from offsphere.cli.steps.audit_steps import print_audit, run_audit, write_report
from offsphere.cli.steps.docstring_task import make_docstring_task
from offsphere.cli.steps.writable import check_writable


def demo_command(
    out: Annotated[Path, typer.Option(help="Where to write the task, the vectors and the report.")] = Path("demo"),
) -> None:
    """Make a task from the docstrings on this machine, embed it with the static model, and audit it."""
    from offsphere.encode.embedded_task import EmbeddedSource

    task, vectors, report = out / "task", out / "vectors", out / "audit.html"
    typer.echo(f"$ offsphere data docstrings --out {task}")
    make_docstring_task(task)
    adapt = is_installed("torch")
    learning = " --adapt" if adapt else ""
    typer.echo(f"\n$ offsphere audit {task} --model wordllama --vectors {vectors}{learning} --out {report}")
    check_writable(report)
    audit = run_audit(EmbeddedSource(str(task), "wordllama", vectors), adapt=adapt)
    write_report(audit, report)
    print_audit(audit, report)
    if not adapt:
        typer.echo(f"Left out is what an adapter on these vectors learns: {MissingExtraError('torch', 'learn')}")
