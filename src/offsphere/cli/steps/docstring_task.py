"""A task from the docstrings on this machine, written and announced, for ``data docstrings`` and the demo."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer


def make_docstring_task(folder: Path, packages: Sequence[str] | None = None) -> None:
    """Write the task, and print how many queries each of its splits has."""
    from offsphere.data.formats.docstrings import DEFAULT_PACKAGES, write_docstrings

    counts = write_docstrings(folder, packages or DEFAULT_PACKAGES)
    queries = ", ".join(f"{count:,} {split}" for split, count in counts.items())
    typer.echo(f"{folder}: {queries} queries, judged by a program, not by people")
