"""A progress bar on standard error, in a terminal only, and only for what takes over two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 2.0  # seconds


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[..., None] | None]:
    """Yields a function of (done, in all, what to say beside the label), or nothing where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    started = time.monotonic()
    with Progress(console=Console(stderr=True), transient=True) as bar:
        row = bar.add_task(label, total=None, visible=False)

        def show(done: int, total: int, said: str = "") -> None:
            beside = f"{label}, {said}" if said else label
            late = time.monotonic() - started > PATIENCE
            bar.update(row, completed=done, total=total, visible=late, description=beside)

        yield show
