"""Commands parse, call the library and show: what the library does is not done again, nor by another command."""

from __future__ import annotations

import ast
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from offsphere import cli
from offsphere.data.formats.beir import write_beir
from offsphere.encode import embedded_task
from tests.cli.running import run_here

FOLDER = Path(cli.__file__).parent
DIMENSION = 24


def imported_by(path):
    """The modules of the command line that a module imports, wherever the import stands."""
    nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    names = [f"{node.module}.{alias.name}" for node in nodes for alias in node.names]
    return {
        name.removeprefix("offsphere.cli.").partition(".")[0] for name in names if name.startswith("offsphere.cli.")
    }


def test_no_command_imports_another_command():
    commands = imported_by(FOLDER / "__init__.py")
    assert {"audit", "compare", "demo", "train"} <= commands
    for path in FOLDER.glob("*.py"):
        if path.stem != "__init__":
            assert not imported_by(path) & commands, path.stem


def words_to_vectors(texts):
    """A sum of random vectors, one a word; a text without words has length zero."""
    rows = np.zeros((len(texts), DIMENSION))
    for row, text in enumerate(texts):
        for word in text.split():
            rows[row] += np.random.default_rng(crc32(word.encode())).standard_normal(DIMENSION)
    return rows


@pytest.fixture
def data(tmp_path):
    """A train and a test split; one document is empty, and a judgment of each split is for one that is not there."""
    rng = np.random.default_rng(0)
    documents = [(f"d{d}", "", " ".join(f"w{w}" for w in rng.integers(0, 60, 8))) for d in range(80)]
    queries = [(f"q{d}", " ".join(text.split()[:3])) for d, (_, _, text) in enumerate(documents)]
    pairs = [(f"q{d}", f"d{d}") for d in range(80)]
    splits = {"train": [*pairs[:50], ("q0", "gone")], "test": [*pairs[50:], ("q50", "gone")]}
    write_beir(tmp_path / "data", [*documents, ("empty", "", "")], queries, splits, "its first words")
    return tmp_path / "data"


def test_an_audit_with_adapters_loads_model_and_data_once_and_warns_once(data, tmp_path, monkeypatch):
    loaded = []
    for name in ("load_encoder", "load_task"):
        original = getattr(embedded_task, name)

        def counted(*rest, original=original, name=name, **more):
            loaded.append(name)
            return original(*rest, **more)

        monkeypatch.setattr(embedded_task, name, counted)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    options = ["--model", f"callable:{__name__}:words_to_vectors", "--vectors", tmp_path / "v", "--ignore-missing"]
    result = run_here("audit", data, "--adapt", *options, "--format", "md", "--out", tmp_path / "audit.md")
    assert loaded == ["load_task", "load_encoder", "load_task"]  # the test split, the model, the train split
    warnings = result.stderr.splitlines()
    assert len(warnings) == len(set(warnings)) == 2, warnings
    assert any("1 vectors have length zero" in line and "document 'empty'" in line for line in warnings)
    assert any("1 judgments are for unknown queries or documents" in line for line in warnings)
    assert "What learning adds" in (tmp_path / "audit.md").read_text()
