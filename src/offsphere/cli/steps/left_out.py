"""Warnings on standard error: what of the data was left out, and which vectors say nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from offsphere.base.shown_ids import shown_id

if TYPE_CHECKING:
    from offsphere.data.task import EmbeddedTask, Task

NAMED_AT_MOST = 5  # empty vectors in a warning


def warn_of_tasks(*tasks: Task | None) -> None:
    """Say what was left out of tasks without vectors, or converted in them; what several have to say is said once."""
    for message in dict.fromkeys(warning for task in tasks if task is not None for warning in task.warnings()):
        typer.echo(f"warning: {message}", err=True)


def warn_left_out(*parts: EmbeddedTask) -> None:
    """Say what was left out of these tasks; what several of them have to say is said once."""
    messages: dict[str, None] = {}
    for task, vectors in parts:
        messages |= dict.fromkeys(task.warnings())
        if vectors.empty:
            some = [shown_id(name) for name in vectors.empty[:NAMED_AT_MOST]]
            named = ", ".join(some) + (", ..." if len(vectors.empty) > NAMED_AT_MOST else "")
            empty = (
                f"{len(vectors.empty)} vectors have length zero, so cosine ranks them last (empty texts? mend or "
                f"remove them): {named}"
            )
            messages[empty] = None
    for message in messages:
        typer.echo(f"warning: {message}", err=True)
