"""Benchmarks are run by hand; what they import from the package, also in the scripts they start, is there."""

from __future__ import annotations

import ast
from importlib import import_module

import pytest

from tests.processes import ROOT


def imports_of(code):
    """Every name that code imports from the package, with its module; code inside strings counts too."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "offsphere":
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "from offsphere" in node.value:
            yield from imports_of(node.value)


@pytest.mark.parametrize("path", sorted((ROOT / "benchmarks").glob("*.py")), ids=lambda path: path.stem)
def test_what_a_benchmark_imports_is_there(path):
    names = list(imports_of(path.read_text("utf-8")))
    assert [(module, name) for module, name in names if not hasattr(import_module(module), name)] == []
