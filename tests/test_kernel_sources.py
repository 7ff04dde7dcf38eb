"""Compiled code is never stale: numba asks whether the file of a kernel changed, not whether one that it imports did.

numba keeps what it compiled beside the kernel's own file, by a hash of that file (``get_source_stamp`` in its
``core/caching.py``), where it outlives an upgrade. So a line that imports something for kernels names the source that
it is compiled with: where that changes, the line changes, and with it the file.
"""

from __future__ import annotations

import ast
import hashlib
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

SOURCE = Path(__file__).parents[1] / "src"
COMPILED = [path for path in sorted((SOURCE / "offsphere").rglob("*.py")) if "import njit" in path.read_text()]
KERNELS = [path for path in sorted((SOURCE / "offsphere").rglob("*.py")) if "@njit(cache=True" in path.read_text()]


def compiled_names(tree):
    """Every name that a compiled function of a module uses."""
    compiled = (
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and "njit" in map(decorator, node.decorator_list)
    )
    return {name.id for function in compiled for name in ast.walk(function) if isinstance(name, ast.Name)}


def decorator(node):
    return getattr(node.func if isinstance(node, ast.Call) else node, "id", None)


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_a_kernel_names_the_sources_that_it_is_compiled_with(path):
    text = path.read_text()
    tree, lines = ast.parse(text), text.splitlines()
    for node in tree.body:
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("offsphere."):
            continue
        if compiled_names(tree).isdisjoint(alias.name for alias in node.names):
            continue
        imported = SOURCE / f"{node.module.replace('.', '/')}.py"
        digest = hashlib.sha256(imported.read_bytes()).hexdigest()[:12]
        named = lines[node.end_lineno - 1].rpartition("# source ")[2]
        assert named == digest, (
            f"{path.name}:{node.end_lineno}: {imported.name} changed: end the line in '# source {digest}'"
        )


def checked_by(text):
    """The names in a text that are those of functions, classes or modules: a name that is gone checks nothing."""
    return [name for name in re.findall(r"``(\w+)``", text) if name in definitions() or hasattr(np, name)]


@cache
def definitions():
    paths = list((SOURCE / "offsphere").rglob("*.py"))
    nodes = (node for path in paths for node in ast.parse(path.read_text()).body)
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {path.stem for path in paths} | {node.name.lower() for node in nodes if isinstance(node, kinds)}


@pytest.mark.parametrize("path", COMPILED, ids=lambda path: path.stem)
def test_a_kernel_says_where_its_indices_come_from(path):
    """Memory is read wherever an index leads, so somebody must have gone through all of them, and say who checks."""
    said = " ".join((ast.get_docstring(ast.parse(path.read_text())) or "").split()).lower()
    _, asked, who = said.partition("compiled code does not ask")
    assert asked
    assert checked_by(who), "it names nobody who checks: a function, class or module of ours or numpy's"


def test_a_check_that_is_gone_is_none():
    assert checked_by("see ``check_pairs`` and ``tokenbags``") == ["check_pairs", "tokenbags"]
    assert checked_by("somebody checks, as ``check_all_of_it`` did") == []


def test_the_kernels_of_search_are_among_them():
    assert {"kernels", "transport_kernels", "dot_kernels"} <= {path.stem for path in KERNELS}
    assert set(KERNELS) <= set(COMPILED)
