"""Compiled code is never stale: numba asks whether the file of a kernel changed, not whether one that it imports did.

numba keeps what it compiled beside the kernel's own file, by a hash of that file (``get_source_stamp`` in its
``core/caching.py``), where it outlives an upgrade. So a line that imports something for kernels names the source that
it is compiled with: where that changes, the line changes, and with it the file.
"""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

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


@pytest.mark.parametrize("path", COMPILED, ids=lambda path: path.stem)
def test_a_kernel_says_where_its_indices_come_from(path):
    """Memory is read wherever an index leads, so somebody must have gone through all of them, and say who checks."""
    said = " ".join((ast.get_docstring(ast.parse(path.read_text())) or "").split())
    assert "compiled code does not ask" in said.lower()


def test_the_kernels_of_search_are_among_them():
    assert {"kernels", "transport_kernels", "dot_kernels"} <= {path.stem for path in KERNELS}
    assert set(KERNELS) <= set(COMPILED)
