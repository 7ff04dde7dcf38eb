"""Nothing in a file is executed: Python reports no unpickling, no import and no execution while anything is read."""

from __future__ import annotations

import subprocess
import sys

from tests.processes import PATIENCE, ROOT, environment_with


def test_no_file_of_any_format_runs_code():
    result = subprocess.run(
        [sys.executable, "-m", "tests.promises.watched_reading"],
        cwd=ROOT,
        env=environment_with(ROOT),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert result.returncode == 0, f"{result.stdout[-4_000:]}{result.stderr[-4_000:]}"
