"""Every command that writes, killed at random moments, on a full disk, and twice at once."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.kills.commands import COMMANDS
from tests.processes import PATIENCE, ROOT, environment_with

KILLS = os.environ.get("OFFSPHERE_KILLS", "2")


# whose two undisturbed runs take long; make kill has them all
LONG = {
    "train",
    "study",
    "ablate",
    "adapt",
    "export, LanceDB",
    "export, Qdrant",
    "export, DuckDB",
    "export, sqlite-vec",
}
ALIKE = {
    "export .npy",
    "export .npz",
    "export .safetensors",
    "ship, sqlite-vec",
    "export, FAISS",
}  # as others that stay


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in LONG | ALIKE else []) for name in COMMANDS]
)
def test_a_killed_command_ends_with_the_same_bytes_when_it_is_run_again(name):
    result = subprocess.run(
        [sys.executable, "-m", "tests.kills", name, KILLS],
        cwd=ROOT,
        env=environment_with(ROOT),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    sys.stdout.write(result.stdout[-2_000:])  # the counts, which make kill shows
    assert result.returncode == 0, result.stderr[-6_000:]
