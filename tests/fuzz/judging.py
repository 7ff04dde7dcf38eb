"""Who judges a damaged file: it is read right, or refused in one line, in a process that has little memory."""

from __future__ import annotations

import resource
from pathlib import Path

from offsphere.base.errors import OffsphereError
from tests.fuzz.subjects import Subject, exact

LONGEST = 2_500  # characters of an error
ROOM = 3 << 30  # bytes of address space beyond what the imports took


def judge(chosen: Subject, folder: Path, expected: object) -> str:
    """Read a damaged folder: refused with one line, or right; anything else raises."""
    try:
        value = exact(chosen.read(folder))
    except OffsphereError as error:
        line = str(error)
    else:
        line = ""
    if line:
        assert "\n" not in line, line
        assert len(line) < LONGEST, line[:LONGEST]
        return "refused"
    if not chosen.anything:
        right = exact(chosen.reference(folder)) if chosen.reference is not None else expected
        assert value == right, "a wrong answer"
    return "right"


def limit_memory() -> None:
    """Let this process have so much address space and no more."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
