"""Same input, same output, to the last bit: whatever the cores, the threads of BLAS and the seed of Python's hashes."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.generated import write_generated
from tests.processes import PATIENCE, environment_with

TIMED = ("seconds",)
ONE_CORE = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
COMMAND = "from offsphere.cli import main; main()"
TYPED = {"compare": ("compare", "--json"), "measure": ("measure", "--json"), "audit": ("audit", "--json")}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generated")
    write_generated(folder)
    return folder


def printed(code, name, data, cache, settings):
    """What a command prints in a new process with a cache of its own; how long steps took is left out."""
    command, *options = TYPED[name]
    result = subprocess.run(
        [sys.executable, "-c", code, command, str(data), *options],
        env={**environment_with(), "XDG_CACHE_HOME": str(cache), **settings},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-3_000:]
    return json.dumps(without_times(json.loads(result.stdout)))  # floats are written so that each bit counts


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(part) for key, part in value.items() if key not in TIMED}
    return [without_times(part) for part in value] if isinstance(value, list) else value


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot keep a process on one core")
# an audit compares and measures, too
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "audit" else [pytest.mark.slow]) for name in TYPED]
)
def test_one_core_and_many_print_the_same(name, data, tmp_path):
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    single = {"PYTHONHASHSEED": "1", **dict.fromkeys(threads, "1")}
    several = {"PYTHONHASHSEED": "2", **dict.fromkeys(threads, "2")}
    first = printed(ONE_CORE + COMMAND, name, data, tmp_path / "first", single)
    assert printed(COMMAND, name, data, tmp_path / "second", several) == first
    assert printed(COMMAND, name, data, tmp_path / "second", several) == first  # from the cache of the second
