"""Print the rooms of the package and what each imports: the map of the house, drawn from the code itself.

Every import counts, those inside functions and those for types alone too, and so does a module that is named in a
string, to be looked up later. A room may import from the rooms listed before it; an import from a later one is printed
with its file and line, and the script exits with 1. The front door, ``offsphere/__init__.py``, leads to every room.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[1] / "src" / "offsphere"
NAMED = re.compile(r"offsphere(\.[a-z_]+){2,}")  # a string that is the name of a module
ROOMS = (
    "base",
    "vectors",
    "scoring",
    "ranking",
    "statistics",
    "wording",
    "data",
    "encode",
    "comparison",
    "answering",
    "tokens",
    "geometry",
    "learning",
    "factors",
    "engines",
    "auditing",
    "shards",
    "runners",
    "report",
    "cli",
)


class Import(NamedTuple):
    """One import from one room to another, and where it stands."""

    importer: str
    imported: str
    location: str


def imports() -> Iterator[Import]:
    """Every import of the package from itself that crosses a room's wall."""
    for path in sorted(PACKAGE.rglob("*.py")):
        room, *inside = path.relative_to(PACKAGE).parts
        if not inside:  # the front door leads to every room
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            for module in _modules(node):
                parts = module.split(".")
                if parts[0] == "offsphere" and len(parts) > 1 and parts[1] != room:
                    yield Import(room, parts[1], f"{path.relative_to(PACKAGE.parents[1])}:{getattr(node, 'lineno', 0)}")


def _modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "offsphere" else [node.module]
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and NAMED.fullmatch(node.value):
        return [node.value]
    return []


def main() -> int:
    """Print a line a room, and every import that points upward."""
    crossing = [edge for edge in imports() if edge.imported in ROOMS]
    counts = Counter((edge.importer, edge.imported) for edge in crossing)
    for room in ROOMS:
        used = [f"{lower} {counts[room, lower]}" for lower in ROOMS if counts[room, lower]]
        print(f"{room:<11} imports  {', '.join(used) or 'nothing'}")
    upward = [edge for edge in crossing if ROOMS.index(edge.imported) > ROOMS.index(edge.importer)]
    print(f"{len(upward)} upward of {len(crossing)} imports between rooms")
    for edge in upward:
        print(f"  {edge.location}: {edge.importer} -> {edge.imported}")
    return 1 if upward else 0


if __name__ == "__main__":
    sys.exit(main())
