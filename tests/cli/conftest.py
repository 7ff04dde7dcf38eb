"""Data for the commands, and the demo, which is run once for all tests that look at it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

import pytest
from filelock import FileLock

from tests.cli.running import run
from tests.generated import write_generated


class Demo(NamedTuple):
    """What ``offsphere demo`` printed, and where it wrote."""

    out: Path
    returncode: int
    stdout: str
    stderr: str


# one of the ten slowest: every package of this machine is read, embedded and audited, and adapters are trained on it
@pytest.fixture(scope="session")
def demo(shared_folder):
    """One run of the demo, whichever of the test processes asks first."""
    finished = shared_folder / "demo.json"
    with FileLock(shared_folder / "demo.lock"):
        if not finished.is_file():
            out = shared_folder / "demo"
            result = run("demo", "--out", out, env={**os.environ, "XDG_CACHE_HOME": str(shared_folder / "demo-cache")})
            finished.write_text(json.dumps([str(out), result.returncode, result.stdout, result.stderr]))
    out, *result = json.loads(finished.read_text())
    return Demo(Path(out), *result)


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """A ranking task with vectors of random numbers, as files."""
    folder = tmp_path_factory.mktemp("generated")
    write_generated(folder)
    return folder
