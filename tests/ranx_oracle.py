"""What ranx says, asked of a process of its own in which nothing of it is compiled."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec

import pytest

from tests.processes import run_warm

BEFORE = """
import json, sys
import ranx
from tests.interpreted_ranx import run_of
given = json.loads(sys.argv[1])
"""
AFTER = "\nprint(json.dumps(answer))"


def ask_ranx(code, **given):
    """Run lines that make an ``answer`` of ``given``, with ranx and ``run_of`` at hand.

    Args:
        code: The lines.
        given: What they get, in a dictionary called ``given``.

    Returns:
        The answer, as JSON carries it.
    """
    if find_spec("ranx") is None:
        pytest.skip("ranx is not installed")
    asked = run_warm(
        BEFORE + code + AFTER,
        json.dumps(given),
        imports=("tests.interpreted_ranx",),
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )
    assert asked.returncode == 0, asked.stderr
    return json.loads(asked.stdout)
