"""Other processes in tests: the environment they get, and how long one waits for them on a busy machine."""

from __future__ import annotations

import os
from pathlib import Path

PATIENCE = 1_800  # seconds: a limit against hanging for ever, far from what any process takes on a loaded machine


def environment_with(*folders: str | Path) -> dict[str, str]:
    """The environment of this process, with some more folders to import from."""
    known = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([*map(str, folders), *([known] if known else [])])
    return {**os.environ, "PYTHONPATH": path}
