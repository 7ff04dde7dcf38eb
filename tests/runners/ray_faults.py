"""Jobs and runners by which faults are injected into Ray: workers that tell who they are, and runs that kill."""

from __future__ import annotations

import os
import random
import signal
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

from offsphere.base.errors import DataError
from tests.processes import ROOT


@contextmanager
def patient_ray():
    """An environment in which Ray waits for a busy machine, and its workers find these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_worker_register_timeout_seconds", "900")  # a busy machine starts processes slowly
        patch.setenv("RAY_health_check_failure_threshold", "20")
        patch.setenv("RAY_worker_niceness", "0")
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "src")]))  # for workers
        yield


@dataclass(frozen=True)
class Watched:
    """A job whose workers leave their process number in a folder, and take their time."""

    job: Any
    folder: Path
    seconds: float

    def prepare(self):
        work = self.job.prepare()
        (self.folder / str(os.getpid())).touch()

        def slowly(piece):
            time.sleep(self.seconds)
            return work(piece)

        return slowly


@dataclass(frozen=True)
class Large:
    """A job with answers of so many bytes."""

    size: int

    def prepare(self):
        return lambda piece: np.full(self.size // 8, piece, np.int64)


@dataclass(frozen=True)
class Telling:
    """A job that tells which process works."""

    def prepare(self):
        return lambda _: os.getpid()


@dataclass(frozen=True)
class Refusing:
    """A job that refuses one piece."""

    def prepare(self):
        def work(piece):
            if piece == 2:
                raise DataError("piece 2 is wrong: mend it")
            return os.environ["OFFSPHERE_CORES"]

        return work


class KillingNodes:
    """A runner that kills a node of its cluster when the first piece of a pass is done."""

    def __init__(self, runner, kill):
        self.runner, self.kill = runner, kill

    def run(self, job, pieces):
        for done, answer in enumerate(self.runner.run(job, pieces)):
            if done == 0:
                self.kill()
            yield answer

    @contextmanager
    def keeping(self):
        with self.runner.keeping() as crew:
            yield KillingNodes(crew, self.kill)


class KillingWorkers:
    """A runner whose workers die by SIGKILL, so many times at random moments of a pass."""

    def __init__(self, runner, folder, kills, seconds=0.3, seed=0):
        self.runner, self.folder, self.left, self.seconds = runner, folder, kills, seconds
        self.rng = random.Random(seed)

    def run(self, job, pieces):
        ended = Event()
        killer = Thread(target=self._kill, args=(ended,), daemon=True)
        killer.start()
        try:
            yield from self.runner.run(Watched(job, self.folder, self.seconds), pieces)
        finally:
            ended.set()
            killer.join()

    def _kill(self, ended):
        while self.left and not ended.wait(self.rng.uniform(0, 2 * self.seconds)):
            alive = list(self.folder.iterdir())
            if not alive:
                continue
            chosen = self.rng.choice(alive)
            chosen.unlink()
            with suppress(ProcessLookupError):
                os.kill(int(chosen.name), signal.SIGKILL)
                self.left -= 1
