"""Functions of the user as encoders: what they raise or give wrong is theirs to mend, and a changed one is noticed."""

from __future__ import annotations

import sys
from functools import partial
from importlib import invalidate_caches
from threading import Lock

import numpy as np
import pytest

from offsphere.base.errors import DataError, OffsphereError
from offsphere.encode import embed, load_encoder
from offsphere.encode.embedding import SideItems, embed_items
from offsphere.encode.function import FunctionEncoder
from offsphere.encode.function_digest import revision_of
from tests.processes import environment_with, run_command

SIDE = SideItems("document", ["a", "b", "c"], ["one", "two", "three"])


def write_function(folder, body, name="mine"):
    (folder / f"{name}.py").write_text(f"import numpy as np\ndef rows(texts):\n    {body}\n")


def embed_in_process(folder, out="out"):
    (folder / "pairs.csv").write_text("sentence1,sentence2,score\na,b,1\nc,d,2\ne,f,3\n")
    arguments = ("embed", folder / "pairs.csv", "--model", "callable:mine:rows", "--out", folder / out)
    return run_command(*arguments, env=environment_with(folder))


def test_a_changed_body_is_noticed_and_an_unchanged_one_known_again(tmp_path):
    write_function(tmp_path, "return [[1.0, len(text)] for text in texts]")
    assert embed_in_process(tmp_path).returncode == 0
    assert embed_in_process(tmp_path).returncode == 0
    write_function(tmp_path, "return [[2.0, len(text)] for text in texts]")
    changed = embed_in_process(tmp_path)
    assert changed.returncode == 2
    assert "holds vectors of callable:mine:rows" in changed.stderr
    assert "choose another --out, or delete it" in changed.stderr


def test_a_helper_in_the_same_file_counts_and_a_version_stands_for_all(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)

    def revision(helper, more=""):
        text = (
            f"def helper(text):\n    return {helper}\ndef rows(texts):\n    return [[helper(t)] for t in texts]\n{more}"
        )
        (tmp_path / "helped.py").write_text(text)
        sys.modules.pop("helped", None)
        invalidate_caches()
        return load_encoder("callable:helped:rows").description.revision

    assert revision("1") == revision("1") != revision("22")
    assert revision("1", "rows.__version__ = '7'\n") == revision("22", "rows.__version__ = '7'\n") == "7"


class Scaled:
    """A callable object whose state decides what it gives."""

    def __init__(self, scale, more=None):
        self.scale, self.more = scale, more

    def __call__(self, texts):
        return [[self.scale * len(text)] for text in texts]


def scaled(texts, scale=1.0):
    return [[scale * len(text)] for text in texts]


def closure(scale):
    return lambda texts: [[scale * len(text)] for text in texts]


def from_no_file(body):
    names = {"np": np}
    exec(f"def inner(text):\n    return {body}\ndef rows(texts):\n    return [[inner(t)] for t in texts]\n", names)
    return names["rows"]


MAKERS = {
    "an object": Scaled,
    "a method": lambda scale: Scaled(scale).__call__,
    "a partial": lambda scale: partial(scaled, scale=scale),
    "a closure": closure,
    "an array": lambda scale: partial(scaled, scale=np.full(3, scale)),
    "code without a file": lambda scale: from_no_file(f"{scale} * len(text)"),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_what_a_function_brings_along_counts(kind):
    make = MAKERS[kind]
    assert revision_of(make(2.0)) == revision_of(make(2.0))
    assert revision_of(make(2.0)) != revision_of(make(3.0))


def test_code_without_a_file_gives_the_same_digest_in_another_process():
    code = "def rows(texts):\n    return [[len(text), 'ab' in {'ab', 'cd', 'ef'}] for text in texts]\n"
    code += "from offsphere.encode.function_digest import revision_of\nprint(revision_of(rows))"
    import subprocess

    seen = set()
    for seed in ("1", "2"):
        env = {**environment_with(), "PYTHONHASHSEED": seed}
        seen.add(
            subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
        )
    assert len(seen) == 1


@pytest.mark.parametrize("opaque", [Lock(), iter([1]), "a tensor"])
def test_a_function_that_cannot_be_known_again_is_never_reused(tmp_path, opaque):
    if opaque == "a tensor":
        opaque = pytest.importorskip("torch").ones(2)
    function = Scaled(1.0, opaque)
    assert revision_of(function) != revision_of(function)
    embed_items(SIDE, FunctionEncoder(function, "callable:mine"), tmp_path)
    with pytest.raises(DataError, match="to have callable:mine known again, give the function a __version__"):
        embed_items(SIDE, FunctionEncoder(function, "callable:mine"), tmp_path)


def raising(texts):
    raise ZeroDivisionError("by nothing\nand more")


def leaving(texts):
    raise SystemExit(3)


def objects(texts):
    return np.array([[object()] for _ in texts])


WRONG = {
    "raises": (raising, r"^f raised ZeroDivisionError for 1 texts: by nothing$"),
    "leaves": (leaving, "f raised SystemExit"),
    "strings": (lambda texts: [["a", "b"] for _ in texts], "gave an array of <U1: expected a row of real numbers"),
    "a string": (lambda _: "vectors", r"gave an array of shape \(\)"),
    "nothing": (lambda _: None, r"gave an array of shape \(\)"),
    "ragged rows": (lambda _: [[1.0, 2.0], [1.0]], "gave list of which no array can be made"),
    "complex numbers": (lambda texts: np.ones((len(texts), 2), complex), "gave an array of complex128"),
    "objects": (objects, "gave an array of object"),
    "too few rows": (lambda _: np.ones((0, 2)), r"gave an array of shape \(0, 2\) for 1 texts"),
    "no dimensions": (lambda texts: np.ones((len(texts), 0)), "gave vectors of no dimensions"),
    "more than float32 holds": (
        lambda texts: np.full((len(texts), 2), 1e300),
        r"gave 1e\+300, which is more than float",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_function_that_gives_something_else_is_named(what):
    function, message = WRONG[what]
    with pytest.raises(OffsphereError, match=message):
        FunctionEncoder(function, "f")


def test_another_width_later_is_an_error_that_names_it(tmp_path):
    def widening(texts):
        return np.ones((len(texts), 4 if "offsphere" in texts else 6))

    with pytest.raises(
        OffsphereError, match="mine gave vectors of 6 dimensions for 3 texts, and of 4 for its first one"
    ):
        embed_items(SIDE, FunctionEncoder(widening, "mine"), tmp_path)
    assert not (tmp_path / "manifest.json").exists()


@pytest.mark.parametrize("body", ["raise KeyError('no')", "return [['a'] for _ in texts]"])
def test_the_command_tells_a_function_s_fault_in_one_line(tmp_path, body):
    write_function(tmp_path, body)
    result = embed_in_process(tmp_path)
    assert result.returncode == 2
    assert result.stderr.startswith("offsphere: callable:mine:rows ")
    assert result.stderr.count("\n") == 1


def test_half_precision_refuses_what_it_cannot_hold(tmp_path):
    encoder = FunctionEncoder(lambda texts: [[1e6, 1.0] for _ in texts], "large")
    with pytest.raises(OffsphereError, match=r"1e\+06 in them, which is more than float16 can hold: .*--dtype float32"):
        embed_items(SIDE, encoder, tmp_path / "half", dtype="float16")
    assert embed_items(SIDE, encoder, tmp_path / "whole").vectors.max() == 1e6


def test_embed_takes_what_is_in_memory_too(tmp_path):
    from offsphere.data import PairTask

    task = PairTask("p", np.arange(3.0), ["a", "b", "c"], ["d", "e", "f"])
    assert embed(task, FunctionEncoder(scaled, "s"), tmp_path).left.tolist() == [[1.0]] * 3
