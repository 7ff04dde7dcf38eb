"""A ranking task from the Python packages on this machine: the summary line of a docstring asks for its code.

Query: the summary line. Document: the signature and the rest of the docstring, without that line. Real text written by
people for people, on every machine, with nothing to download. Sources are parsed, never imported.
"""

from __future__ import annotations

import ast
import hashlib
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from offsphere.base.errors import DataError
from offsphere.data.formats.beir import write_beir
from offsphere.data.formats.known_items import KnownItem, known_items
from offsphere.data.items import texts_alone
from offsphere.data.task import items_of

DEFAULT_PACKAGES = ("stdlib", "numpy", "scipy")
MADE = "each summary line of a docstring asks for its function or class"
TEST_SHARE = 0.3  # of the modules
_SKIPPED = {"test", "tests", "testing", "idlelib", "lib2to3", "site-packages", "__pycache__", "turtledemo", "_vendor"}

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def write_docstrings(folder: Path, packages: Sequence[str] = DEFAULT_PACKAGES) -> dict[str, int]:
    """Write the task as a BEIR folder with the splits train and test, and return how many queries each has.

    The splits are cut by module, so that what is learned of a module is not asked for in the test.
    """
    named = {item.id: item for package in packages for item in reversed(list(read_package(package)))}
    items = sorted(named.values())  # a name that is defined twice, such as a property's setter, counts once
    versions = ", ".join(f"{package} {_version(package)}" for package in packages)
    made = f"{MADE} ({versions})"
    task = known_items("docstrings", items, made, source=f"the docstrings of {', '.join(packages)}")
    splits: dict[str, list[tuple[str, str]]] = {"train": [], "test": []}
    for name in task.query_ids:
        splits[split_of(name.rpartition(":")[0])].append((name, name))
    if not all(splits.values()):
        raise DataError(f"{', '.join(packages)}: too few modules with docstrings for a train and a test split")
    queries, texts = (texts_alone(side, "a BEIR folder") for side in items_of(task))
    documents = ((name, "", text) for name, text in zip(task.document_ids, texts, strict=True))
    write_beir(folder, documents, zip(task.query_ids, queries, strict=True), splits, made)
    return {split: len(pairs) for split, pairs in splits.items()}


def split_of(module: str) -> str:
    """The split of a module, which is always the same one, whatever else is installed."""
    share = int.from_bytes(hashlib.sha256(module.encode()).digest()[:4], "big") / 2**32
    return "test" if share < TEST_SHARE else "train"


def read_package(package: str) -> Iterator[KnownItem]:
    """The documented public functions and classes of a package (``stdlib``: of the standard library)."""
    for module, path in _sources(package):
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError, OSError, RecursionError, MemoryError):
            continue  # a file of another Python version, or one that is nested without end
        yield from _documented(tree, module, "")


def _documented(node: ast.AST, module: str, inside: str) -> Iterator[KnownItem]:
    """The public definitions in a module or class whose docstring is longer than its summary line."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, Definition) or child.name.startswith("_"):
            continue
        name = f"{inside}{child.name}"
        summary, _, rest = (ast.get_docstring(child) or "").partition("\n")
        if rest.strip():
            yield KnownItem(f"{module}:{name}", summary.strip(), f"{_signature(child, name)}\n{rest.strip()}")
        if isinstance(child, ast.ClassDef):
            yield from _documented(child, module, f"{name}.")


def _signature(node: Definition, name: str) -> str:
    if isinstance(node, ast.ClassDef):
        return f"class {name}({', '.join(ast.unparse(base) for base in node.bases)})"
    return f"def {name}({ast.unparse(node.args)})"


def _sources(package: str) -> list[tuple[str, Path]]:
    """The modules of a package and their files, sorted by name."""
    if package == "stdlib":
        home = Path(sysconfig.get_paths()["stdlib"])
        tops = [home / f"{name}.py" for name in sys.stdlib_module_names] + [
            home / name for name in sys.stdlib_module_names
        ]
        files = [path for top in tops for path in ([top] if top.is_file() else top.rglob("*.py"))]
    else:
        try:
            spec = find_spec(package) if package.replace("_", "").isalnum() else None
        except (ImportError, ValueError):  # __main__ is a module without one
            spec = None
        if spec is None or spec.origin is None:
            raise DataError(
                f"there is no installed package {package!r}: pip install it, or name another with --package"
            )
        origin = Path(spec.origin)
        home = origin.parent.parent if spec.submodule_search_locations else origin.parent
        files = list(origin.parent.rglob("*.py")) if spec.submodule_search_locations else [origin]
    modules = {path.relative_to(home).with_suffix("").as_posix().replace("/", "."): path for path in files}
    return sorted((name, path) for name, path in modules.items() if not _SKIPPED & set(name.split(".")))


def _version(package: str) -> str:
    if package == "stdlib":
        return ".".join(map(str, sys.version_info[:3]))
    try:
        return version(package)
    except PackageNotFoundError:
        return "of this machine"
