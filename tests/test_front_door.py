"""``import offsphere``: every public name is there, loaded when first used, and nothing hides it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import offsphere
from tests.processes import PATIENCE

HEAVY = ("numpy", "numba", "torch", "scipy", "pyarrow", "sentence_transformers", "altair", "rich")


def loaded_by(code):
    """Which of the heavy packages are loaded after some code, in a fresh interpreter."""
    code = f"import sys; {code}; print(*(name for name in {HEAVY} if name in sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True)
    return result.stdout.split()


def test_importing_loads_nothing_heavy():
    assert loaded_by("import offsphere") == []


def test_the_command_itself_loads_nothing_heavy():
    """So that --help is quick: how quick is measured by benchmarks/start_up.py."""
    assert loaded_by("import offsphere.cli") == []


def test_public_names_resolve():
    assert all(getattr(offsphere, name) is not None for name in offsphere.__all__)
    assert callable(offsphere.search)
    assert callable(offsphere.compare)
    with pytest.raises(AttributeError):
        _ = offsphere.nothing


def names_for_type_checkers():
    """The names that the block under TYPE_CHECKING imports by module, as public ones: ``import name as name``."""
    tree = ast.parse(Path(offsphere.__file__).read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    names = {}
    for node in block.body:
        names.setdefault(node.module, set()).update(alias.name for alias in node.names if alias.asname == alias.name)
    return names


def test_type_checkers_see_the_names_that_are_loaded_when_first_used():
    loaded = {f"offsphere.{module}": set(names.split()) for module, names in offsphere._HOME.items()}
    assert names_for_type_checkers() == loaded


def test_no_room_hides_a_public_name():
    """A package that has been imported becomes an attribute of offsphere: it must not take the place of a function."""
    rooms = {path.parent.name for path in Path(offsphere.__file__).parent.glob("*/__init__.py")}
    assert rooms.isdisjoint(offsphere.__all__)
