"""What every benchmark shares: interleaved timing, goals, one JSON line at the end."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Clock:
    """The best wall and CPU seconds of several interleaved runs of several jobs."""

    wall: dict[str, float] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)

    def run(self, jobs: dict[str, Callable[[], Any]], rounds: int, clear: Callable[[], None] = lambda: None) -> None:
        """Run all jobs in turn, several times: what disturbs the machine disturbs all of them.

        What clears up after each is not timed.
        """
        for _ in range(rounds):
            for name, job in jobs.items():
                clear()
                wall, cpu = time.perf_counter(), time.process_time()
                job()
                wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
                self.wall[name] = min(wall, self.wall.get(name, wall))
                self.cpu[name] = min(cpu, self.cpu.get(name, cpu))

    def show(self) -> None:
        """A line a job."""
        for name, cpu in self.cpu.items():
            print(f"  {name:<44} {self.wall[name]:9.3f} s wall {cpu:9.3f} s CPU")


@dataclass
class Goals:
    """Measured numbers and what they should be. At a small size nothing is judged, only noted."""

    judged: bool = True
    measured: dict[str, float] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)

    def at_most(self, name: str, value: float, goal: float) -> None:
        """A number that should not be larger."""
        self._judge(name, value, f"at most {goal:g}", value <= goal)

    def at_least(self, name: str, value: float, goal: float) -> None:
        """A number that should not be smaller."""
        self._judge(name, value, f"at least {goal:g}", value >= goal)

    def note(self, name: str, value: float) -> None:
        """A number without a goal."""
        self.measured[name] = round(value, 4)
        print(f"{name}: {value:.3f}")

    def finish(self) -> None:
        """Print everything as one JSON object, the last line, and exit with 1 if a goal was missed."""
        print(json.dumps({**self.measured, "missed": self.missed}))
        sys.exit(1 if self.missed else 0)

    def _judge(self, name: str, value: float, goal: str, reached: bool) -> None:  # noqa: FBT001
        if not self.judged:
            self.note(name, value)
            return
        self.measured[name] = round(value, 4)
        if not reached:
            self.missed.append(name)
        print(f"{name}: {value:.3f} (goal: {goal}) {'reached' if reached else 'MISSED'}")


def quick(description: str | None) -> bool:
    """Whether --quick was given: a small size that shows that the script works, not what it claims."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="a small size, to see that the script works; no goals")
    return bool(parser.parse_args().quick)
