"""Every command that writes, killed at random moments, on a full disk, and twice at once."""

from __future__ import annotations

import os
import sys

import pytest

from tests.kills.commands import COMMANDS
from tests.processes import ROOT, environment_with, run_warm

RUN = "from tests.kills.__main__ import main; main()"
KILLS = os.environ.get("OFFSPHERE_KILLS", "2")
IN_EVERY_RUN = (
    "embed",
    "import",
    "export .parquet",
    "ship, FAISS",
    "audit",
    "adapt",
    "ablate",
    "train",
    "factorize",
    "threshold",
    "queries",
    "compare, a shard",
    "merge",
    "docstrings",
)  # the others write as one of these does, or take long


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in IN_EVERY_RUN else [pytest.mark.slow]) for name in COMMANDS]
)
def test_a_killed_command_ends_with_the_same_bytes_when_it_is_run_again(name):
    environment = environment_with(ROOT) | {"OMP_NUM_THREADS": "1"}
    result = run_warm(RUN, name, KILLS, imports=("tests.kills.__main__",), cwd=ROOT, env=environment)
    sys.stdout.write(result.stdout[-2_000:])  # the counts, which make kill shows
    assert result.returncode == 0, result.stderr[-6_000:]
