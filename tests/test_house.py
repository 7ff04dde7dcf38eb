"""The house can be read from the street: names, docstrings and imports keep to the rules of CONTRIBUTING."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import offsphere
from offsphere.comparison.list_source import ListSource
from offsphere.data.task import Task, TaskVectors
from offsphere.scoring.transforms.maps import FittedMap

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
    heavy = heavy - packages_of(module_of(path)) if path.parent != HOME else heavy
    assert [(line, name) for line, name in inside_functions(path) if not packages_of(name) & heavy] == []


def imported(tree):
    """What a module imports, inside functions too, but not for type checkers: such an import never runs."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield from imported_by(node)
        yield from imported(node)


def knot(imports):
    """Modules that import each other in a circle; nothing where there is none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_module_imports_itself_by_way_of_others():
    """An import for type checkers alone may close a circle: a result's sentences are told by functions of the result.

    So ``comparison/table.py`` needs ``verdict.py`` and its neighbours when it runs, and they need its name for types.
    """
    imports = {module_of(path): {*imported(tree)} & set(MODULES) for path, tree in TREES.items()}
    assert knot({name: others for name, others in imports.items() if name != "offsphere"}) == []


def test_a_knot_is_seen():
    assert set(knot({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()})) == {"b", "c"}
    assert knot({"a": {"b", "c"}, "b": {"c"}}) == []


def test_the_rooms_have_one_order():
    """Of what may import what: in the page, in the contract of import-linter and in the script that draws the house."""
    root = Path(__file__).parents[1]
    page = (root / "docs" / "house.md").read_text("utf-8").partition("## ")[0]
    drawn = ast.parse((root / "scripts" / "rooms.py").read_text("utf-8"))
    (rooms,) = [
        ast.literal_eval(node.value)
        for node in drawn.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ROOMS"
    ]
    settings = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    assert list(rooms) == re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == contract["layers"][::-1]
    assert sorted(rooms) == sorted(path.name for path in HOME.iterdir() if (path / "__init__.py").exists())


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_every_docstring_can_be_read_alone(path):
    texts = [ast.get_docstring(node) for node in ast.walk(TREES[path]) if isinstance(node, DOCUMENTED)]
    assert [text for text in texts if text is not None and len(text.split()) < SHORTEST] == []


def test_file_names_are_unique():
    names = Counter(path.name for path in FILES)
    assert [name for name, count in names.items() if count > 1 and name != "__init__.py"] == []


ALIAS = re.compile(r"[A-Z]\w*[a-z]\w*")  # a name of a type, not of a constant


def defined_by(tree):
    """Classes, aliases of types and functions of a module that are not private, each once: an overload is no second."""
    names = set()
    for node in at_the_top(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {name.id for name in targets if isinstance(name, ast.Name) and ALIAS.fullmatch(name.id)}
    names |= {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    return {name for name in names if not name.startswith("_")}


def test_a_class_an_alias_and_a_function_have_a_name_of_their_own():
    """Whoever greps for a name, or reads it in an error, finds the one thing that it means."""
    counts = Counter(name for path in FILES for name in defined_by(TREES[path]))
    assert [name for name, count in counts.items() if count > 1] == []


def test_a_name_that_stands_twice_is_seen():
    first = ast.parse("class Plan: ...\nRows = list[int]\ndef draw(): ...\n_Own = int\nMOST = 3")
    assert defined_by(first) == {"Plan", "Rows", "draw"}


MOST_POSITIONAL = 7
CLASSES = {node.name: node for tree in TREES.values() for node in tree.body if isinstance(node, ast.ClassDef)}


def positional(node):
    """How many arguments a class takes by position: those of its ``__init__``, or its fields as a dataclass."""
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and part.name == "__init__":
            return len(part.args.args) - 1
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    if not any(decorator.startswith("dataclass") for decorator in decorators):
        return 0
    count = sum(positional(CLASSES[name_of(base)]) for base in node.bases if name_of(base) in CLASSES)
    if any("kw_only=True" in decorator for decorator in decorators):
        return count
    for part in node.body:
        if not isinstance(part, ast.AnnAssign) or "ClassVar" in ast.unparse(part.annotation):
            continue
        if ast.unparse(part.annotation) == "KW_ONLY":
            break
        count += "init=False" not in ast.unparse(part)
    return count


@pytest.mark.parametrize("name", CLASSES)
def test_whoever_makes_something_of_many_parts_names_them(name):
    """A named tuple cannot ask for it; of those the next test asks who makes them."""
    assert positional(CLASSES[name]) <= MOST_POSITIONAL


# compiled kernels take arguments by position, and so does whoever calls them
COMPILED = {path for path in FILES if "njit" in path.read_text("utf-8")} | {HOME / "ranking" / "search.py"}


@pytest.mark.parametrize("path", [path for path in FILES if path not in COMPILED], ids=module_of)
def test_nobody_gives_many_arguments_by_position(path):
    calls = [node for node in ast.walk(TREES[path]) if isinstance(node, ast.Call) and len(node.args) > MOST_POSITIONAL]
    assert [call.lineno for call in calls if name_of(call.func) != "pack"] == []  # struct's takes a number a field


KINDS = {
    "AnsweredTask",
    "EpisodeTask",
    "EpisodeVectors",
    "LinkedTask",
    "NeighbourTask",
    "PairTask",
    "PairVectors",
    "RankingTask",
    "RankingVectors",
}


def asks_for_a_kind(tree):
    """Lines that ask of which kind a task or its vectors are, of the things themselves or of a summary."""
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) == "isinstance":
            lines += [node.lineno] if KINDS & {name_of(part) for part in ast.walk(node.args[1])} else []
        if isinstance(node, ast.Compare) and ast.unparse(node.left).endswith("['kind']"):
            values = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
            lines += [node.lineno] if values & {"pairs", "ranking", "episodes"} else []
    return lines


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_nothing_asks_of_which_kind_a_task_is(path):
    """A kind that somebody adds has the face of all tasks; who needs more than that asks in one place."""
    where_one_asks = {"offsphere.data.task_kinds", "offsphere.comparison.units"}  # of tasks, and of their summaries
    assert bool(asks_for_a_kind(TREES[path])) == (module_of(path) in where_one_asks)


@pytest.mark.parametrize(
    "code", ["isinstance(task, RankingTask)", "isinstance(a, data.PairVectors | int)", "table.task['kind'] == 'pairs'"]
)
def test_a_kind_that_is_asked_for_is_seen(code):
    assert asks_for_a_kind(ast.parse(code))


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


FACES = (FittedMap, ListSource, Task, TaskVectors)  # which classes have without being made of them


def methods_of(kind):
    """The methods that a class has from this package, but for those of a class of others, who say what they are."""
    theirs = [base for base in kind.__mro__ if not base.__module__.startswith("offsphere.")]
    for name, value in inspect.getmembers_static(kind):
        function = getattr(value, "__func__", value)
        ours = inspect.isfunction(function) and function.__module__.startswith("offsphere.")
        if ours and not name.startswith("_") and not any(name in vars(base) for base in theirs):
            yield name, function


def said_of(kind, name):
    """The docstrings of a method: its own, and those of what it is a case of."""
    faces = [face for face in FACES if {each for each in vars(face) if not each.startswith("_")} <= {*dir(kind)}]
    return [inspect.getdoc(vars(each)[name]) for each in (*kind.__mro__, *faces) if name in vars(each)]


@pytest.mark.parametrize("name", [name for name in offsphere.__all__ if name[0].isupper()])
def test_every_method_of_a_public_class_says_what_it_takes_and_gives(name):
    """One that takes nothing says in its sentence what it gives; a case of a face is told by the face."""
    kind = getattr(offsphere, name)
    for method, function in methods_of(kind):
        signature = inspect.signature(function)
        takes = {*signature.parameters} - {"self", "cls"}
        needed = ["Args:", *takes] if takes else []
        needed += ["Returns:"] if takes and signature.return_annotation not in ("None", None) else []
        assert any(
            all(part in text.replace("Yields:", "Returns:") for part in needed) for text in said_of(kind, method)
        ), method


ASKS = ("result", "exception")  # what one calls to learn how work in a thread ended; to wait for it tells nothing


def dropped_work(tree):
    """Lines at which work is given to threads or processes, and nobody asks that very work how it ended."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return sorted({line for function in functions for line in dropped_in(function)})


def dropped_in(function):
    """Such lines of one function: what is given must come, by whatever names, to what is asked."""
    nodes = list(ast.walk(function))
    asked_parts = [node.func.value for node in nodes if isinstance(node, ast.Call) and attribute(node) in ASKS]
    asked = {name for part in asked_parts for name in names_in(part)}
    flows = [flow for node in nodes for flow in flows_of(node)]
    while more := {name for into, source in flows if into & asked for name in names_in(source)} - asked:
        asked |= more
    reached = asked_parts + [source for into, source in flows if into & asked]
    used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    reached_by_use = reached + [source for into, source in flows if into & used]
    inside = {id(node) for part in reached for node in ast.walk(part)}
    for node in nodes:
        if attribute(node) == "submit" and id(node) not in inside:
            yield node.lineno
    looked_at = {id(node) for part in reached_by_use for node in ast.walk(part)}
    thrown_away = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    named = {id(source) for _, source in flows}
    for node in nodes:  # whoever maps sees a failure as soon as he looks at what came
        if attribute(node) == "map" and (id(node) in thrown_away or (id(node) in named and id(node) not in looked_at)):
            yield node.lineno


def flows_of(node):
    """Names that a piece of code fills, and the expression from which."""
    if isinstance(node, ast.Assign):
        yield {name for target in node.targets for name in names_in(target)}, node.value
    elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
        yield names_in(node.target), node.value
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        yield names_in(node.target), node.iter
    elif attribute(node) in ("append", "add", "extend"):
        for argument in node.args:
            yield names_in(node.func.value), argument


def names_in(node):
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def attribute(node):
    """The method that is called, where one is."""
    return node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None


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
        "future = pool.submit(work, 1)\n    other.result()",
        "future = pool.submit(work, 1)\n    wait([future])",
        "futures = [pool.submit(work, piece) for piece in pieces]\n    wait(futures)",
        "futures = [pool.submit(work, piece) for piece in pieces]\n    for done in wait(futures):\n        pass",
        "return gather(pool.submit(work, 1))",
        "return [pool.submit(work, piece) for piece in pieces]",
        "results = pool.map(work, pieces)",
        "[pool.submit(work, piece) for piece in pieces]\n    return [one.result() for one in other]",
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
        "results = pool.map(work, pieces)\n    return list(results)",
        "pool.submit(work, 1).result()",
        "futures = {pool.submit(work, 1): 1}\n    for one in wait(futures):\n        one.result()",
        "waiting = []\n    waiting.append(pool.submit(work, 1))\n    return waiting.pop().result()",
        "done, _ = wait([pool.submit(work, piece) for piece in pieces])\n    return [one.result() for one in done]",
        "future = pool.submit(work, 1)\n    if future.exception():\n        raise ValueError",
    ],
)
def test_work_that_is_asked_for_is_fine(body):
    assert dropped_work(ast.parse(f"def job(pool, pieces):\n    {body}")) == []


READERS = HOME / "base" / "reading"
READING = {"load_file", "load_npz", "read_bytes", "read_text", "read_table", "safe_open", "ParquetFile", "memmap"}
READING |= {"ZipFile", "TarFile", "fromfile", "from_file", "loadtxt", "genfromtxt", "read_csv", "read_parquet"}
READING |= {"connect", "Connection", "load_index", "read_index"}  # of engines
LOADING = {"np.load", "numpy.load", "json.load", "torch.load", "pickle.load"}
PARSING = {"json.loads", "tomllib.loads", "tomllib.load", "yaml.safe_load", "yaml.load", "ast.literal_eval"}
# who reads files outside base/reading, and why
ALLOWED = {
    "base.endpoint": "it opens a connection, no file",
    "base.digests": "a digest is of bytes, whatever they are",
    "base.files": "it writes",
    "base.remote_path": "it opens for whoever reads and checks",
    "base.spilled": "it maps what it wrote a moment ago, under no name",
    "cli.endings": "the device that swallows everything",
    "cli.audit": "a browser opens the report",
    "data.formats.docstrings": "sources of Python, of which one that cannot be parsed is skipped",
    "data.download": "the package of a data set, whose digest was compared before",
    "data.store_writer": "it writes into the rows of a store in the making",
    "encode.function_digest": "the source of a function, of which a digest is made",
    "encode.static": "a model that is loaded",
    "engines.qdrant_edge": "it opens a lock",
    "engines.qdrant_folder": "it has the disk keep what the client wrote",
    "engines.faiss_vectors": "an index is mapped, and every number in it is checked as it is read",
    "engines.chroma_copy": "SQLite copies a database, page by page",
    "engines.duckdb": "DuckDB opens its own file",
    "engines.faiss": "FAISS opens an index of which every number was checked, or its own bytes were compared",
    "engines.hnswlib": "hnswlib opens an index whose bytes were compared",
    "engines.index_file": "it reads what a package wrote a moment ago",
    "engines.lancedb": "LanceDB opens its own folder",
    "engines.postgres": "it opens a connection, no file",
    "engines.qdrant_points": "SQLite opens the file of Qdrant's own client",
    "engines.sqlite": "SQLite opens its own file",
    "engines.usearch": "usearch opens an index whose bytes were compared",
    "engines.files.vector_writers": "it writes a member of an archive",
    "base.cached_folders": "it opens locks",
    "learning.encoders.callbacks": "torch loads tensors whose header was checked before",
    "factors.factor_files": "scipy makes a matrix of arrays that were read and checked before",
    "report.guide_sections": "pages of the guide, which came with the package",
    "report.page": "templates of the package itself",
    "report.factor_page": "templates of the package itself",
}


# who parses what is no file of others, and why
PARSED = {
    "encode.static_files": "the tokenizer's own words, of the file that was read a moment ago",
    "learning.encoders.training_folder": "its own words, to write them as they will be read",
    "report.charts": "altair's own words",
    "report.figure_files": "altair's own words",
}
OPENING_COLLECTIONS = {
    "self.connect",
    "engine.open",
    "self.engine.open",
    "strategy.open",
    "live.open",
}  # of engines, not files


def files_read_by(tree):
    """Lines at which a file is opened to be read."""
    lines = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name, whole = name_of(node.func), ast.unparse(node.func)
        if whole in OPENING_COLLECTIONS:
            continue
        if name == "open" or name in READING or whole in LOADING or whole.endswith("Index.restore"):
            lines.append(node.lineno)
    return lines


def texts_parsed_by(tree):
    """Lines at which a text is parsed as if it were known how deep it is nested, or how large it is."""
    return [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) in PARSING]


@pytest.mark.parametrize("path", [path for path in FILES if not path.is_relative_to(READERS)], ids=module_of)
def test_files_are_read_where_what_they_claim_is_checked(path):
    if module_of(path).removeprefix("offsphere.") not in ALLOWED:
        assert files_read_by(TREES[path]) == []


@pytest.mark.parametrize("path", [path for path in FILES if not path.is_relative_to(READERS)], ids=module_of)
def test_what_others_send_is_parsed_where_its_depth_is_checked(path):
    """What comes over a network too: nested deep enough, it ends a parser that trusts it."""
    if module_of(path).removeprefix("offsphere.") not in PARSED:
        assert texts_parsed_by(TREES[path]) == []


@pytest.mark.parametrize(("allowed", "finds"), [(ALLOWED, files_read_by), (PARSED, texts_parsed_by)])
def test_whoever_may_read_or_parse_himself_does(allowed, finds):
    """Else the list of exceptions would grow old."""
    modules = {module_of(path).removeprefix("offsphere."): path for path in FILES}
    assert [name for name in allowed if not finds(TREES[modules[name]])] == []


@pytest.mark.parametrize(
    "code",
    [
        "json.loads(path.read_bytes())",
        "np.load(path)",
        "open(path)",
        "path.open('rb')",
        "parquet.read_table(path)",
        "zipfile.ZipFile(path)",
        "sqlite3.connect(path)",
        "np.fromfile(path)",
        "Tokenizer.from_file(path)",
        "pandas.read_csv(path)",
        "faiss.read_index(path)",
    ],
)
def test_a_file_that_is_read_is_seen(code):
    assert files_read_by(ast.parse(code))


def test_a_body_that_is_parsed_is_seen():
    assert texts_parsed_by(ast.parse("json.loads(response.read())['choices']"))
