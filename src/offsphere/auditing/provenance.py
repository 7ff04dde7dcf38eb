"""Where the numbers of an audit come from: digests of the data, versions of the code, seconds of each step."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version

from offsphere.base.digests import digest_of
from offsphere.base.version import __version__
from offsphere.data.task import Task, TaskVectors
from offsphere.vectors.blocks import Blocks

PACKAGES = ("numpy", "scipy", "numba")  # whose versions a report names


def digests_of(task: Task, vectors: TaskVectors) -> dict[str, str]:
    """Digests of the vectors of both sides, their shapes included, and of all that the task is."""
    sides = {side.plural: rows for side, rows in zip(task.sides, vectors.sides, strict=True)}
    shapes = {name: str(rows.shape).encode() for name, rows in sides.items()}
    digests = {
        name: digest_of([shapes[name], *(block.tobytes() for block in Blocks.of(rows))]) for name, rows in sides.items()
    }
    return {**digests, "task": task.digest()}


def versions() -> dict[str, str]:
    """The versions of offsphere, of Python, and of what computes."""
    ours = {"offsphere": __version__, "python": sys.version.split()[0]}
    return ours | {package: version(package) for package in PACKAGES}


class Clock:
    """How many seconds each step took."""

    def __init__(self) -> None:
        """Start without any step."""
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Count what is done inside as the step of that name."""
        started = time.monotonic()
        yield
        self.seconds[name] = round(time.monotonic() - started, 2)
