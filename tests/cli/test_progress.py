"""Progress under a clock that the test turns: nothing here depends on how long anything takes."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.progress import Progress as ProgressDisplay

from offsphere.cli import progress_bar as bars
from offsphere.cli.progress_bar import EVERY, PATIENCE, ProgressLines, draw_bar, progress_bar
from offsphere.cli.progress_watch import ProgressWatch, time_told


class Clock:
    """A clock that stands still until it is turned."""

    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_without_a_terminal_there_is_a_line_every_ten_seconds(clock):
    watch, stream = ProgressWatch("comparing", clock), io.StringIO()
    lines = ProgressLines(watch, stream)
    written = []
    for second in range(61):
        clock.now = 1_000.0 + second
        lines.look()
        written.append(len(stream.getvalue().splitlines()))
    assert [second for second in range(1, 61) if written[second] > written[second - 1]] == [10, 20, 30, 40, 50, 60]
    assert stream.getvalue().splitlines()[-1] == "comparing: 60 s so far"


def test_quick_work_writes_nothing(clock):
    watch, stream = ProgressWatch("comparing", clock), io.StringIO()
    lines = ProgressLines(watch, stream)
    for done in range(10):
        clock.now += EVERY / 20
        watch.report(done, 10)
        lines.look()
    assert stream.getvalue() == ""


def test_long_work_gets_an_estimate_as_soon_as_it_is_known_to_be_long(clock):
    watch, stream = ProgressWatch("embedding", clock), io.StringIO()
    lines = ProgressLines(watch, stream)
    watch.report(0, 1_000)
    clock.now += PATIENCE
    watch.report(10, 1_000)
    lines.look()
    assert stream.getvalue() == "embedding: 1 %, about 3 min left\n"


def test_work_that_is_done_and_goes_on_is_never_said_to_be_at_its_end(clock):
    """Searching may be done while tests run, which take as long again."""
    watch = ProgressWatch("comparing", clock)
    with ProgressDisplay(console=Console(file=io.StringIO()), auto_refresh=False) as display:
        row = display.add_task("", total=None, left="")
        for done in (50, 100):
            clock.now += 10
            watch.report(done, 100, "searching")
            draw_bar(watch, display, row)
        assert display.tasks[0].total is None  # a pulse
        assert display.tasks[0].percentage < 100
        assert "100 %" not in watch.line()
        watch.report(0, 0, "intervals and tests")
        draw_bar(watch, display, row)
        assert display.tasks[0].description == "comparing, intervals and tests"
        assert display.tasks[0].total is None
        assert watch.line() == "comparing, intervals and tests: 20 s so far"


def test_a_new_phase_starts_a_new_estimate(clock):
    watch = ProgressWatch("auditing", clock)
    watch.report(0, 100, "searching")
    clock.now += 100
    watch.report(99, 100, "searching")
    watch.report(0, 5_000, "measuring")
    assert watch.seconds_left is None
    clock.now += 10
    watch.report(1_000, 5_000, "measuring")
    assert watch.seconds_left == pytest.approx(40)


@pytest.mark.parametrize(("seconds", "text"), [(3.4, "3 s"), (89, "89 s"), (120, "2 min"), (7_200, "2.0 h")])
def test_time_is_told_with_the_digits_that_matter(seconds, text):
    assert time_told(seconds) == text


def test_a_reader_who_has_gone_stops_no_work(clock):
    stream = io.StringIO()
    stream.close()
    lines = ProgressLines(ProgressWatch("x", clock), stream)
    clock.now += EVERY
    lines.look()


def test_silence_can_be_asked_for(monkeypatch):
    monkeypatch.setenv(bars.QUIET, "1")
    with progress_bar("work") as progress:
        assert progress is None


def test_work_that_reports_nothing_is_reported_all_the_same(monkeypatch):
    """The thread looks again and again; the test waits for its line, however long that takes."""
    from threading import Event

    written = Event()

    class Stream(io.StringIO):
        def write(self, text):
            super().write(text)
            written.set()
            return len(text)

    stream = Stream()
    monkeypatch.delenv(bars.QUIET, raising=False)
    monkeypatch.setattr(bars, "EVERY", 0.0)
    monkeypatch.setattr(bars, "LOOK", 0.001)
    monkeypatch.setattr(bars.sys, "stderr", stream)
    with progress_bar("thinking"):
        assert written.wait(1_800)
    assert stream.getvalue().startswith("thinking: 0 s so far")
