"""Progress on standard error for what takes long: a bar in a terminal, a line every ten seconds elsewhere.

A bar that stands at its end while work goes on would lie, so work without a known end shows as a bar without one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, TextIO

from offsphere.base.progress import Progress
from offsphere.cli.progress_watch import ProgressWatch, time_left

if TYPE_CHECKING:
    from rich.progress import Progress as ProgressDisplay
    from rich.progress import TaskID

PATIENCE = 2.0  # seconds before anything is shown
EVERY = 10.0  # seconds between lines
LOOK = 0.5  # seconds between two looks at the clock
QUIET = "OFFSPHERE_QUIET"  # the variable of the environment that silences progress


@contextmanager
def progress_bar(label: str) -> Iterator[Progress | None]:
    """Yield a function of (done, in all, what to say beside the label) that shows progress while work goes on.

    Where ``OFFSPHERE_QUIET`` is set nothing is shown, and nothing is yielded.
    """
    if os.environ.get(QUIET):
        yield None
        return
    watch = ProgressWatch(label)
    with _bar(watch) if sys.stderr.isatty() else _looking(ProgressLines(watch, sys.stderr).look):
        yield watch.report


class ProgressLines:
    """Lines about work: an estimate as soon as it is known that it takes long, then a line every ten seconds."""

    def __init__(self, watch: ProgressWatch, stream: TextIO) -> None:
        """Write about what is watched to a stream."""
        self._watch, self._stream, self._last = watch, stream, 0.0
        self._estimated = False

    def look(self) -> None:
        """Write a line if one is due."""
        now, left = self._watch.seconds, self._watch.seconds_left
        long = not self._estimated and now >= PATIENCE and left is not None and left >= EVERY
        if long or now - self._last >= EVERY:
            self._last, self._estimated = now, self._estimated or long
            with suppress(OSError, ValueError):  # nobody reads any more; the work goes on
                print(self._watch.line(), file=self._stream, flush=True)


@contextmanager
def _bar(watch: ProgressWatch) -> Iterator[None]:
    """Draw a bar, once the work takes longer than anybody would watch nothing."""
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as ProgressDisplay

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[left]}"))
    with ProgressDisplay(*columns, console=Console(stderr=True), transient=True) as display:
        row = display.add_task(watch.label, total=None, visible=False, left="")
        with _looking(lambda: draw_bar(watch, display, row)):
            yield


def draw_bar(watch: ProgressWatch, display: ProgressDisplay, row: TaskID) -> None:
    """Bring the bar up to what is watched: a pulse where no end is known, else the share and the time left."""
    share, left = watch.share, watch.seconds_left
    display.update(
        row,
        description=watch.description,
        completed=share or 0,
        visible=watch.seconds >= PATIENCE,
        left=time_left(left) if left is not None else "",
    )
    display.tasks[0].total = None if share is None else 1.0


@contextmanager
def _looking(look: Callable[[], None]) -> Iterator[None]:
    """Look again and again while work goes on, also while it reports nothing."""
    ended = Event()

    def go_on() -> None:
        while not ended.wait(LOOK):
            look()

    thread = Thread(target=go_on, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
