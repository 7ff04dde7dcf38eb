"""How far long work is and how long it will still take, in words; knows a clock and no terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

MINUTE, HOUR = 60, 3_600
ROUGHLY = 90  # seconds that are still told in seconds


@dataclass(slots=True)
class ProgressWatch:
    """What work has reported, and since when.

    A phase is work under one note with one total: a new one starts a new estimate. Work that reports no total, or that
    is done and has not ended, has no share and no estimate.

    Attributes:
        label: What the work is called.
        clock: Tells the time in seconds; another one in tests.

    Example:
        >>> watch = ProgressWatch("embedding", clock=iter([0.0, 0.0, 20.0, 20.0, 20.0]).__next__)
        >>> watch.report(0, 1_000)
        >>> watch.report(250, 1_000)
        >>> watch.line()
        'embedding: 25 %, about 60 s left'
    """

    label: str
    clock: Callable[[], float] = time.monotonic
    started: float = field(init=False)
    note: str = field(default="", init=False)
    _done: int = field(default=0, init=False)
    _total: int = field(default=0, init=False)
    _phase: tuple[float, int] = field(default=(0.0, 0), init=False)  # when it began, and how much was done then

    def __post_init__(self) -> None:
        """Start the clock of the work."""
        self.started = self.clock()
        self._phase = (self.started, 0)

    def report(self, done: int, total: int, note: str = "", /) -> None:
        """Take what the work says of itself: ``done`` of ``total``, and what it is doing.

        A total of 0 is unknown; without a note the last one holds.
        """
        now = self.clock()
        if total != self._total or done < self._done:
            self._phase = (now, done)
        self._done, self._total, self.note = done, total, note or self.note

    @property
    def description(self) -> str:
        """The label, and what is being done."""
        return f"{self.label}, {self.note}" if self.note else self.label

    @property
    def share(self) -> float | None:
        """How much of the phase is done; nothing where that is unknown, or where all is done and work goes on."""
        return self._done / self._total if 0 < self._total > self._done else None

    @property
    def seconds(self) -> float:
        """How long the work has taken so far."""
        return self.clock() - self.started

    @property
    def seconds_left(self) -> float | None:
        """How long the phase will still take at the pace it has; nothing where no pace is known yet."""
        began, before = self._phase
        moved, passed = self._done - before, self.clock() - began
        if self.share is None or moved <= 0 or passed <= 0:
            return None
        return (self._total - self._done) * passed / moved

    def line(self) -> str:
        """One line for somebody who reads a log."""
        share, left = self.share, self.seconds_left
        if share is None:
            return f"{self.description}: {time_told(self.seconds)} so far"
        return f"{self.description}: {share:.0%}".replace("%", " %") + (f", {time_left(left)}" if left else "")


def time_left(seconds: float) -> str:
    """Write how long something will still take.

    Example:
        >>> time_left(12.3), time_left(600), time_left(9_000)
        ('about 12 s left', 'about 10 min left', 'about 2.5 h left')
    """
    return f"about {time_told(seconds)} left"


def time_told(seconds: float) -> str:
    """Write a span of time with the digits that matter."""
    if seconds < ROUGHLY:
        return f"{seconds:.0f} s"
    return f"{seconds / MINUTE:.0f} min" if seconds < ROUGHLY * MINUTE else f"{seconds / HOUR:.1f} h"
