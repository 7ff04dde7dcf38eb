"""The order of the parts of something, and which of them is missing, told by their names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_NUMBERED = re.compile(r"(\d+)-of-(\d+)")


def part_name(number: int, count: int) -> str:
    """What part ``number`` (from 1) of so many is called.

    Example:
        >>> from offsphere.data.numbered_parts import part_name
        >>> part_name(2, 7)
        '00002-of-00007'
    """
    return f"{number:05}-of-{count:05}"


def in_part_order(paths: Sequence[Path]) -> list[Path]:
    """Sort paths by name, and by number where names have numbers: ``part-2`` comes before ``part-10``."""
    return sorted(paths, key=lambda path: _natural(path.name))


def missing_part(paths: Sequence[Path]) -> str | None:
    """The first part that is not there, where names say how many there are; nothing where none is missing.

    Args:
        paths: Of all parts that are there.

    Returns:
        What the missing one would be called.

    Example:
        >>> from pathlib import Path
        >>> from offsphere.data.numbered_parts import missing_part
        >>> missing_part([Path("corpus-00001-of-00003.jsonl"), Path("corpus-00003-of-00003.jsonl")])
        'corpus-00002-of-00003.jsonl'
    """
    numbered = [match for path in paths if (match := _NUMBERED.search(path.name)) is not None]
    totals, numbers = {int(match[2]) for match in numbered}, {int(match[1]) for match in numbered}
    if len(numbered) < len(paths) or len(totals) != 1:
        return None
    first = 0 if 0 in numbers else 1  # other tools count from zero
    lacking = next((number for number in range(first, first + totals.pop()) if number not in numbers), None)
    if lacking is None:
        return None
    written = f"{lacking:0{len(numbered[0][1])}}-of-{numbered[0][2]}"
    return paths[0].name.replace(numbered[0][0], written)


def _natural(name: str) -> list[tuple[int, int, str]]:
    """A key that compares numbers as numbers, and texts as texts."""
    return [(0, int(piece), "") if piece.isdecimal() else (1, 0, piece) for piece in re.split(r"(\d+)", name)]
