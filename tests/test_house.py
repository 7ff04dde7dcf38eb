"""The house can be read from the street: names, docstrings and imports keep to the rules of CONTRIBUTING."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import offsphere

HOME = Path(offsphere.__file__).parent
FILES = sorted(HOME.rglob("*.py"))
TREES = {path: ast.parse(path.read_text()) for path in FILES}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
SHORTEST = 4  # words of a docstring
# packages that take so long to import that one waits for them
HEAVY = {
    "accelerate",
    "altair",
    "datasets",
    "faiss",
    "jinja2",
    "lancedb",
    "numba",
    "pyarrow",
    "qdrant_client",
    "rich",
    "safetensors",
    "scipy",
    "sentence_transformers",
    "tokenizers",
    "torch",
    "transformers",
    "vl_convert",
}


def module_of(path):
    parts = path.relative_to(HOME.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in FILES}


def imported_by(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        inner = [f"{node.module}.{alias.name}" for alias in node.names]
        return [name if name in MODULES else node.module for name in inner]
    return []


def at_the_top(tree):
    """Nodes that run when a module is imported: not those inside functions, nor those for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        yield from at_the_top(node)


@cache
def packages_of(module):
    """All packages of others that are loaded when a module of ours is."""
    reached, waiting, packages = set(), [module], set()
    while waiting:
        name = waiting.pop()
        if name not in MODULES:
            packages.add(name.partition(".")[0])
        elif name not in reached:
            reached.add(name)
            if name.count(".") > 1:  # the package around it, too; the front door loads nothing
                waiting.append(name.rpartition(".")[0])
            waiting += [other for node in at_the_top(TREES[MODULES[name]]) for other in imported_by(node)]
    return packages


def inside_functions(path):
    for function in ast.walk(TREES[path]):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                yield from ((node.lineno, name) for name in imported_by(node) if name.startswith("offsphere"))


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_an_import_inside_a_function_keeps_something_heavy_out_of_start_up(path):
    """One that only dodges a cycle would hide that two modules are tied together."""
    heavy = HEAVY | {"numpy"} if path.is_relative_to(HOME / "cli") else HEAVY
    assert [(line, name) for line, name in inside_functions(path) if not packages_of(name) & heavy] == []


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_every_docstring_can_be_read_alone(path):
    texts = [ast.get_docstring(node) for node in ast.walk(TREES[path]) if isinstance(node, DOCUMENTED)]
    assert [text for text in texts if text is not None and len(text.split()) < SHORTEST] == []


def test_file_names_are_unique():
    names = Counter(path.name for path in FILES)
    assert [name for name, count in names.items() if count > 1 and name != "__init__.py"] == []


@pytest.mark.parametrize("name", offsphere.__all__)
def test_every_public_name_shows_an_example(name):
    assert ">>>" in inspect.getdoc(getattr(offsphere, name))


@pytest.mark.parametrize("name", [name for name in offsphere.__all__ if name[0].islower()])
def test_every_public_function_says_what_it_takes_and_gives(name):
    function = getattr(offsphere, name)
    text = inspect.getdoc(function)
    assert "Args:" in text or not inspect.signature(function).parameters
    assert "Returns:" in text or inspect.signature(function).return_annotation in ("None", None)
    for parameter in inspect.signature(function).parameters:
        assert parameter in text


ASKS = ("result", "exception", "as_completed", "wait", "gather")  # what one calls to learn how work in a thread ended


def dropped_work(tree):
    """Lines at which work is given to threads or processes, and nobody asks how it ended."""
    lines = []
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        called = {name_of(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and name_of(node.func) == "submit" and not called & set(ASKS):
                lines.append(node.lineno)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.ListComp):
                call = node.value if isinstance(node.value, ast.Call) else node.value.elt
                given = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
                lines += [node.lineno] if given and call.func.attr in ("submit", "map") else []
    return lines


def name_of(function):
    """The last word of what is called."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_whoever_gives_work_to_threads_asks_how_it_ended(path):
    """Else a failure vanishes, and memory that nobody filled is taken for the result."""
    assert dropped_work(TREES[path]) == []


@pytest.mark.parametrize(
    "body",
    [
        "pool.submit(work, 1)",
        "pool.map(work, pieces)",
        "future = pool.submit(work, 1)",
        "[pool.submit(work, piece) for piece in pieces]",
        "waiting.append(pool.submit(work, 1))",
        "pool.submit(work, 1)\n    other.result()",
    ],
)
def test_work_that_is_dropped_is_seen(body):
    assert dropped_work(ast.parse(f"def job(pool, pieces, waiting, other):\n    {body}"))


@pytest.mark.parametrize(
    "body",
    [
        "return [future.result() for future in [pool.submit(work, piece) for piece in pieces]]",
        "return list(pool.map(work, pieces))",
        "numbers = map(work, pieces)",
    ],
)
def test_work_that_is_asked_for_is_fine(body):
    assert dropped_work(ast.parse(f"def job(pool, pieces):\n    {body}")) == []


READERS = HOME / "base" / "reading"
READING = {"load_file", "load_npz", "read_bytes", "read_text", "read_table", "safe_open", "ParquetFile", "memmap"}
LOADING = {"np.load", "numpy.load", "json.load", "torch.load", "pickle.load"}
# who reads files outside base/reading, and why
ALLOWED = {
    "base.endpoint": "it opens a connection, no file",
    "base.digests": "a digest is of bytes, whatever they are",
    "base.files": "it writes",
    "base.spilled": "it maps what it wrote a moment ago, under no name",
    "cli.endings": "the device that swallows everything",
    "cli.audit": "a browser opens the report",
    "data.formats.docstrings": "sources of Python, of which one that cannot be parsed is skipped",
    "data.store_writer": "it writes into the rows of a store in the making",
    "encode.function_digest": "the source of a function, of which a digest is made",
    "encode.static": "a model that is loaded",
    "engines.qdrant_edge": "it opens a lock",
    "engines.qdrant_folder": "it has the disk keep what the client wrote",
    "engines.faiss_vectors": "an index is mapped, and every number in it is checked as it is read",
    "engines.hnswlib": "it reads what hnswlib wrote a moment ago",
    "engines.vector_writers": "it writes a member of an archive",
    "base.cached_folders": "it opens locks",
    "learning.encoders.callbacks": "torch loads tensors whose header was checked before",
    "factors.factor_files": "scipy makes a matrix of arrays that were read and checked before",
    "report.page": "templates of the package itself",
    "report.factor_page": "templates of the package itself",
}


OPENING_COLLECTIONS = {"engine.open", "self.engine.open", "strategy.open", "live.open"}  # of engines, not files


def files_read_by(tree):
    """Lines at which a file is opened to be read."""
    lines = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name, whole = name_of(node.func), ast.unparse(node.func)
        if whole in OPENING_COLLECTIONS:
            continue
        if name == "open" or name in READING or whole in LOADING:
            lines.append(node.lineno)
    return lines


@pytest.mark.parametrize("path", [path for path in FILES if not path.is_relative_to(READERS)], ids=module_of)
def test_files_are_read_where_what_they_claim_is_checked(path):
    if module_of(path).removeprefix("offsphere.") not in ALLOWED:
        assert files_read_by(TREES[path]) == []


def test_whoever_may_read_files_himself_does():
    """Else the list of exceptions would grow old."""
    modules = {module_of(path).removeprefix("offsphere."): path for path in FILES}
    assert [name for name in ALLOWED if not files_read_by(TREES[modules[name]])] == []


@pytest.mark.parametrize(
    "code",
    ["json.loads(path.read_bytes())", "np.load(path)", "open(path)", "path.open('rb')", "parquet.read_table(path)"],
)
def test_a_file_that_is_read_is_seen(code):
    assert files_read_by(ast.parse(code))
