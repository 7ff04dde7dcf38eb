"""A progress bar on standard error, in a terminal only, and only for what takes over two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from offsphere.base.progress import Progress

PATIENCE = 2.0  # seconds


@contextmanager
def progress_bar(label: str) -> Iterator[Progress | None]:
    """Yield a function of (done, in all, what to say beside the label), or nothing where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as ProgressDisplay

    started = time.monotonic()
    with ProgressDisplay(console=Console(stderr=True), transient=True) as bar:
        row = bar.add_task(label, total=None, visible=False)

        def show(done: int, total: int, note: str = "", /) -> None:
            description = f"{label}, {note}" if note else label
            late = time.monotonic() - started > PATIENCE
            bar.update(row, completed=done, total=total, visible=late, description=description)

        yield show
