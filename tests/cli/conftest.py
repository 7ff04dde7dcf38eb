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


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """One run of the demo, whichever of the test processes asks first."""
    base = tmp_path_factory.getbasetemp()
    # processes of one test run have their folders side by side; without such processes the folder is the run's own
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    finished = shared / "demo.json"
    with FileLock(shared / "demo.lock"):
        if not finished.is_file():
            out = shared / "demo"
            result = run("demo", "--out", out, env={**os.environ, "XDG_CACHE_HOME": str(shared / "demo-cache")})
            finished.write_text(json.dumps([str(out), result.returncode, result.stdout, result.stderr]))
    out, *result = json.loads(finished.read_text())
    return Demo(Path(out), *result)


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """A ranking task with vectors of random numbers, as files."""
    folder = tmp_path_factory.mktemp("generated")
    write_generated(folder)
    return folder
