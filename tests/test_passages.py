"""No passage of eight lines stands twice: the second one would drift away from the first."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

from tests.test_house import DOCUMENTED

REPO = Path(__file__).parent.parent
LONGEST = 7  # lines that may stand twice


def lines_of_work(source):
    """The lines that do something: without docstrings, imports and heads of functions, which a face has in common."""
    tree = ast.parse(source)
    left_out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            left_out |= set(range(node.lineno, node.end_lineno + 1))
        if isinstance(node, DOCUMENTED) and node.body:
            first = node.body[0]
            if not isinstance(node, ast.Module):
                start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                left_out |= set(range(start, first.lineno))
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                left_out |= set(range(first.lineno, first.end_lineno + 1))
    numbered = ((number, line.strip()) for number, line in enumerate(source.splitlines(), 1))
    return [(number, line) for number, line in numbered if line not in ("", "...") and number not in left_out]


def repeated(sources):
    """Where passages begin that stand twice, in one file or in two."""
    seen = defaultdict(list)
    for name, source in sources.items():
        lines = lines_of_work(source)
        for start in range(len(lines) - LONGEST):
            passage = tuple(line for _, line in lines[start : start + LONGEST + 1])
            seen[passage].append(f"{name}:{lines[start][0]}")
    return [places for places in seen.values() if len(places) > 1]


@pytest.mark.parametrize("folder", ["src", "scripts", "benchmarks", "tests", "docs"])
def test_no_passage_of_eight_lines_stands_twice(folder):
    sources = {str(path.relative_to(REPO)): path.read_text() for path in sorted((REPO / folder).rglob("*.py"))}
    assert repeated(sources) == []


def test_a_passage_that_stands_twice_is_seen():
    body = "\n".join(f"    step_{number}()" for number in range(LONGEST + 1))
    assert repeated({"a.py": f"def one():\n{body}\n", "b.py": f"def two(x):\n    x()\n{body}\n"}) == [
        ["a.py:2", "b.py:3"]
    ]
    shorter = "\n".join(f"    step_{number}()" for number in range(LONGEST))
    assert repeated({"a.py": f"def one():\n{shorter}\n", "b.py": f"def two():\n{shorter}\n"}) == []
