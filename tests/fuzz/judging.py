"""Who judges a damaged file: it is read right, or refused in one line, in a process that has little memory."""

from __future__ import annotations

import resource
from collections.abc import Mapping
from pathlib import Path

from offsphere.base.errors import OffsphereError
from tests.fuzz.subject import Subject

LONGEST = 2_500  # characters of an error
ROOM = 3 << 30  # bytes of address space beyond what the imports took


def judge(chosen: Subject, folder: Path, expected: object) -> str:
    """Read a damaged folder: refused with one line, right, or taken for what nobody judges; anything else raises."""
    refusal: OffsphereError | None = None
    try:
        value = chosen.read(folder)
    except OffsphereError as error:
        refusal = error
    if refusal is not None:
        line = str(refusal)
        assert not _is_of_memory(refusal), f"it took memory for what a file claims: {line}"
        assert line
        assert "\n" not in line, line
        assert len(line) < LONGEST, line[:LONGEST]
        return "refused"
    if chosen.anything:
        return "taken"
    right = chosen.reference(folder) if chosen.reference is not None else expected
    assert chosen.same(value, right), "a wrong answer"
    return "right"


def told(counts: Mapping[str, int]) -> str:
    """How many files were read right, taken without a judge, and refused."""
    return f"{counts['right']} read right, {counts['taken']} read and judged by nobody, {counts['refused']} refused"


def _is_of_memory(error: BaseException | None) -> bool:
    """Whether memory ran out: the files are tiny, so that whoever needs so much believed what one claims."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__ or error.__context__
    return False


def limit_memory() -> None:
    """Let this process have so much address space and no more."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
