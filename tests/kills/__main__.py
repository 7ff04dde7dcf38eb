"""Kill one command again and again: ``python -m tests.kills COMMAND KILLS [SEED]``.

Each trial runs the command in a folder of its own and kills it with SIGKILL at random moments, one to three times, then
lets it end; what it leaves must equal, byte for byte, what an undisturbed run leaves, and nothing else may lie beside
it or in the cache. Of five trials one lets the disk be full instead (no file may grow beyond a random size), and one
runs two of them at once. It exits with 1 at the first trial that ends otherwise, and where there were not as many kills
as asked for, no disk that was full or no pair.
"""

from __future__ import annotations

import gc
import json
import math
import os
import random
import re
import resource
import shlex
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from itertools import cycle
from pathlib import Path

from tests.kills.commands import COMMANDS, Command

IMPORTS = ("tests.command", "offsphere.engines.files.exchange", "offsphere.factors.closed_form", "scipy.sparse")
TORCH = ("torch", "torch._dynamo", "pandas")  # whose imports take longer than all else that is done
HEAVY = {"adapt": TORCH, "ablate": TORCH}
HEAVY |= dict.fromkeys(("train", "sweep", "classify", "export, a model"), (*TORCH, "sentence_transformers", "datasets"))
USER, INTERRUPTED = 2, -signal.SIGKILL
MOST_KILLS = 3  # in one trial
# how the names of files and folders look that are only there while something is being written
PASSING = re.compile(r"\.partial$|[.-]unfinished$|^\.removed-|^\.copy-of-|^\..*\.[a-z0-9_]{8}$")


class Trials:
    """A command, its data, and what it leaves when nobody disturbs it."""

    def __init__(self, name: str, home: Path, chance: random.Random) -> None:
        self.name, self.home, self.chance = name, home, chance
        self.command: Command = COMMANDS[name]
        self.data = home / "data"
        self.data.mkdir()
        self.in_child(lambda: self.command.prepare(self.data))
        sys.path.insert(0, str(self.data))
        self.counts = {"kills": 0, "full disks": 0, "pairs": 0}
        folder = self.fresh("first")
        assert self.wait(self.start(folder)) == 0, self.said(folder)
        self.right = self.outcome(folder)
        self.largest = max(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        self.usual = names_beside(folder)
        started = time.monotonic()  # once more: the first run compiled kernels
        folder = self.fresh("second")
        assert self.wait(self.start(folder)) == 0, self.said(folder)
        self.seconds = time.monotonic() - started
        self.check(folder, "an undisturbed second run")

    def fresh(self, name: str) -> Path:
        folder = self.home / name
        shutil.rmtree(folder, ignore_errors=True)
        for inner in ("out", "tmp"):
            (folder / inner).mkdir(parents=True)
        return folder

    def start(self, folder: Path, largest: int | None = None) -> int:
        """Begin the command in a child that has imported everything already."""
        child = os.fork()
        if child:
            return child
        os.setpgid(0, 0)
        os.environ |= {"XDG_CACHE_HOME": str(folder / "cache"), "TMPDIR": str(folder / "tmp")}
        tempfile.tempdir = None
        os.chdir(folder)
        for descriptor, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644), descriptor)
        if largest is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))
        from offsphere.cli import main

        sys.argv = ["offsphere", *shlex.split(self.command.typed.format(data=self.data, out=folder / "out"))]
        code = 1
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0
        finally:
            os._exit(code)

    @staticmethod
    def wait(child: int) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    @staticmethod
    def said(folder: Path) -> str:
        return (folder / "stderr").read_text()[-3_000:]

    def in_child(self, work: Callable[[], object]) -> None:
        """Do something in a child, so that this process never has threads, which a fork would not copy."""
        child = os.fork()
        if not child:
            code = 1
            try:
                work()
                code = 0
            except BaseException:  # noqa: BLE001
                traceback.print_exc()
            finally:
                os._exit(code)
        if self.wait(child) != 0:
            raise SystemExit(f"{self.name}: its data could not be made, or what it left could not be read")

    def outcome(self, folder: Path) -> dict[str, str]:
        """What the command left."""
        self.in_child(lambda: (folder / "outcome").write_text(json.dumps(self.command.outcome(folder / "out"))))
        left: dict[str, str] = json.loads((folder / "outcome").read_text())
        return left

    def check(self, folder: Path, what: str) -> None:
        beside = sorted(names_beside(folder) - self.usual)
        if beside:
            raise SystemExit(f"{self.name}: after {what} there is what an undisturbed run does not leave: {beside[:5]}")
        got = self.outcome(folder)
        names = [key for key in {*got, *self.right} if got.get(key) != self.right.get(key)]
        if names:
            raise SystemExit(f"{self.name}: {what} left something else in {len(names)} parts: {names[:5]}")

    def was_there(self, code: int, folder: Path) -> bool:
        """Whether it refused to write what an earlier run had written to its last byte."""
        return code == USER and "already" in self.said(folder)

    def finish(self, folder: Path, what: str) -> None:
        """Let the command end undisturbed, and compare."""
        code = self.wait(self.start(folder))
        if code != 0 and not self.was_there(code, folder):
            raise SystemExit(f"{self.name}: after {what} it ends with {code}: {self.said(folder)}")
        self.check(folder, what)

    def kill(self, folder: Path) -> None:
        moments = []
        for _ in range(self.chance.randint(1, MOST_KILLS)):
            child = self.start(folder)
            moments.append(self.chance.uniform(0, 1.1) * self.seconds)
            time.sleep(moments[-1])
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            code = self.wait(child)
            if code not in (0, INTERRUPTED) and not self.was_there(code, folder):
                raise SystemExit(f"{self.name}: killed at {moments} it ended with {code}: {self.said(folder)}")
            self.counts["kills"] += code == INTERRUPTED
        self.finish(folder, f"kills after {', '.join(f'{moment:.3f}' for moment in moments)} s")

    def fill_disk(self, folder: Path) -> None:
        """Let no file grow beyond a size that some file of an undisturbed run has; what it says is a file, too."""
        largest = int(10 ** self.chance.uniform(2, math.log10(max(self.largest, 200))))
        code = self.wait(self.start(folder, largest))
        lines = [line for line in self.said(folder).splitlines() if line.startswith("offsphere: ")]
        if code not in (0, USER) or (code == USER and len(lines) != 1):
            raise SystemExit(f"{self.name}: no file above {largest} bytes: it ended with {code}: {self.said(folder)}")
        self.counts["full disks"] += code == USER
        self.finish(folder, f"a disk that was full at {largest} bytes")

    def run_two(self, folder: Path) -> None:
        children = [self.start(folder), self.start(folder)]
        codes = [self.wait(child) for child in children]
        if not set(codes) <= {0, USER} or "bug" in self.said(folder):
            raise SystemExit(f"{self.name}: two at once ended with {codes}: {self.said(folder)}")
        self.counts["pairs"] += 1
        self.finish(folder, "two at once")

    def run(self, kills: int) -> None:
        """Run trials until there were as many kills as asked for, a full disk and a pair; else raise."""
        turns = cycle([self.kill, self.fill_disk, self.kill, self.run_two, self.kill])
        for _ in range(10 * kills + 10):
            if self.counts["kills"] >= kills and self.counts["pairs"] and self.counts["full disks"]:
                break
            next(turns)(self.fresh("trial"))
        else:
            raise SystemExit(f"{self.name}: asked for {kills} kills, a full disk and two at once, got {self.counts}")


def names_beside(folder: Path) -> set[str]:
    """All that lies in the cache, and elsewhere what is only there while something is being written."""
    cache = {str(path.relative_to(folder)) for path in (folder / "cache").rglob("*")}
    return cache | {str(path.relative_to(folder)) for path in folder.rglob("*") if PASSING.search(path.name)}


def warm(name: str) -> None:
    """Import, and compile, whatever each run of a command would import and compile again."""
    import numpy as np

    from offsphere.vectors.lengths import lengths

    warnings.filterwarnings("ignore", message="lancedb fork support")
    for module in (*IMPORTS, *HEAVY.get(name, ())):
        import_module(module)
    lengths(np.ones((2, 2), np.float32))  # a kernel of one thread: with it comes what all kernels need
    gc.freeze()


def main() -> None:
    """Run the trials of one command."""
    name, kills = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().getrandbits(32)
    os.environ["OMP_NUM_THREADS"] = "1"
    warm(name)
    with tempfile.TemporaryDirectory() as home:
        trials = Trials(name, Path(home), random.Random(seed))
        trials.run(kills)
    counts = ", ".join(f"{count} {kind}" for kind, count in trials.counts.items())
    sys.stdout.write(f"{name}: {counts}, seed {seed}: all ended with the same bytes\n")


if __name__ == "__main__":
    main()
