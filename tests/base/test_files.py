"""Files that appear whole or not at all."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import offsphere
from offsphere.base.errors import OffsphereError
from offsphere.base.files import regular_target, write_whole
from tests.processes import PATIENCE, ROOT, environment_with

HOME = Path(offsphere.__file__).parent
# where else files are written: by those who make them whole, and rows of a store that is not finished
WRITERS = {"base/files.py", "data/store_writer.py"}


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "deep" / "file"
    write_whole(path, b"first")
    write_whole(path, b"second")
    assert path.read_bytes() == b"second"
    assert [item.name for item in path.parent.iterdir()] == ["file"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_file_that_cannot_be_written_is_one_line_and_changes_nothing(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OffsphereError, match="folder: it is a folder: choose another name; nothing was changed"):
        write_whole(tmp_path / "folder", b"")
    assert [item.name for item in tmp_path.iterdir()] == ["folder"]
    (tmp_path / "file").write_text("")
    with pytest.raises(OffsphereError, match="choose another folder"):
        write_whole(tmp_path / "file" / "below", b"")


def test_a_symlink_is_followed_and_stays(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "far" / "file")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "file").read_bytes() == b"new"
    (tmp_path / "dangling").symlink_to(tmp_path / "far" / "made")
    write_whole(tmp_path / "dangling", b"new")
    assert (tmp_path / "far" / "made").read_bytes() == b"new"


def test_what_is_no_regular_file_is_refused_and_stays(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "null").symlink_to("/dev/null")
    for path in (tmp_path / "pipe", tmp_path / "null", Path("/dev/null")):
        with pytest.raises(OffsphereError, match="a device or pipe, no regular file: choose another name"):
            write_whole(path, b"")
        with pytest.raises(OffsphereError, match="no regular file"):
            regular_target(path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["null", "pipe"]
    assert (tmp_path / "pipe").is_fifo()
    assert Path("/dev/null").is_char_device()


WRITE = """
import sys
from pathlib import Path
from offsphere.base.files import whole_file
with whole_file(Path(sys.argv[1])) as stream:
    stream.write(b"half of it")
    stream.flush()
    print("half", flush=True)
    input()
    stream.write(b", and the rest")
"""


@pytest.fixture
def writer():
    """Begins to write a file in another process, and gives that process."""
    processes = []

    def begin(path):
        command = [sys.executable, "-c", WRITE, str(path)]
        processes.append(subprocess.Popen(command, stdin=-1, stdout=-1, text=True, env=environment_with(ROOT)))
        assert processes[-1].stdout.readline() == "half\n"
        return processes[-1]

    yield begin
    for process in processes:
        process.kill()
        process.communicate(timeout=PATIENCE)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", ["file", "[a]*?", "-", ".hidden", "é" * 60, "n" * 255])
def test_what_a_killed_writer_left_goes_with_the_next_write_of_the_same_file(tmp_path, writer, name):
    (tmp_path / name).write_bytes(b"old")
    process = writer(tmp_path / name)
    process.kill()
    process.wait(PATIENCE)
    (left,) = set(names(tmp_path)) - {name}
    assert left.startswith(".")
    assert left.endswith(".partial")
    assert (tmp_path / left).read_bytes() == b"half of it"
    assert (tmp_path / name).read_bytes() == b"old"
    write_whole(tmp_path / "another", b"")
    assert left in names(tmp_path)
    write_whole(tmp_path / name, b"new")
    assert names(tmp_path) == sorted([name, "another"])
    assert (tmp_path / name).read_bytes() == b"new"


def test_what_another_process_is_writing_is_left_to_it(tmp_path, writer):
    process = writer(tmp_path / "file")
    write_whole(tmp_path / "file", b"ours")
    assert len(names(tmp_path)) == 2
    process.communicate("\n", timeout=PATIENCE)
    assert process.returncode == 0
    assert names(tmp_path) == ["file"]
    assert (tmp_path / "file").read_bytes() == b"half of it, and the rest"


def test_two_writers_whose_names_begin_alike_are_told_apart(tmp_path, writer):
    first, second = (tmp_path / ("n" * 200 + end) for end in "ab")
    process = writer(first)
    write_whole(second, b"second")
    process.communicate("\n", timeout=PATIENCE)
    assert (first.read_bytes(), second.read_bytes()) == (b"half of it, and the rest", b"second")
    assert len(names(tmp_path)) == 2


def test_what_only_looks_like_a_leftover_stays(tmp_path):
    theirs = ["file.abc.partial", ".file.backup", ".file2.abc.partial", ".fil.abc.partial", ".partial"]
    for name in theirs:
        (tmp_path / name).write_bytes(b"theirs")
    (tmp_path / "far").write_bytes(b"theirs")
    (tmp_path / ".file.link.partial").symlink_to(tmp_path / "far")
    (tmp_path / ".file.folder.partial").mkdir()
    write_whole(tmp_path / "file", b"ours")
    assert names(tmp_path) == sorted([*theirs, "far", "file", ".file.link.partial", ".file.folder.partial"])
    assert (tmp_path / "far").read_bytes() == b"theirs"


def writes(node):
    """Whether a call writes a file by itself: by numpy, by its path, or opened to be written."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "to_csv" and not node.args and not node.keywords:
        return False  # gives the text
    if name in (
        "write_bytes",
        "write_text",
        "save_file",
        "tofile",
        "to_parquet",
        "to_csv",
        "symlink_to",
        "hardlink_to",
    ):
        return True
    if name in ("save", "savez", "savez_compressed", "write_table", "dump"):  # into memory they may
        target = ast.unparse(node.args[1 if name in ("write_table", "dump") else 0]) if node.args else ""
        return ast.unparse(node.func).split(".")[0] in ("np", "pq", "parquet", "json") and target not in (
            "buffer",
            "sink",
        )
    modes = [
        part.value for part in [*node.args, *(word.value for word in node.keywords)] if isinstance(part, ast.Constant)
    ]
    opened = name in ("open", "fdopen", "open_memmap") and not ast.unparse(node.func).startswith("archive.")
    return opened and any(isinstance(mode, str) and re.fullmatch(r"[rwxab+t]*[wxa+][rwxab+t]*", mode) for mode in modes)


def test_whatever_writes_a_file_makes_it_whole():
    bypassing = [
        f"{path.relative_to(HOME).as_posix()}:{node.lineno}: {ast.unparse(node)[:60]}"
        for path in sorted(HOME.rglob("*.py"))
        if path.relative_to(HOME).as_posix() not in WRITERS
        for node in ast.walk(ast.parse(path.read_text()))
        if writes(node)
    ]
    assert bypassing == []


NAMED = ("mkstemp", "mkdtemp", "NamedTemporaryFile", "SpooledTemporaryFile")
# who makes files or folders with a name, that a kill would leave beside a user's, and how they are swept
SWEPT = {
    "base/files.py": "by the next one to write the same file",
    "engines/databases.py": "by the next one to copy a database",
}


def leaves_a_name(node):
    """Whether a call makes a temporary file that has a name, or a folder elsewhere than where the system sweeps."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in NAMED or (name == "TemporaryDirectory" and any(word.arg == "dir" for word in node.keywords))


def test_what_a_kill_would_leave_has_no_name_or_is_swept():
    making = {
        path.relative_to(HOME).as_posix()
        for path in sorted(HOME.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if leaves_a_name(node)
    }
    assert making == set(SWEPT)


@pytest.mark.parametrize(
    "code", ["tempfile.mkstemp(dir=folder)", "NamedTemporaryFile()", "tempfile.TemporaryDirectory(dir=home)"]
)
def test_a_name_that_would_stay_is_seen(code):
    assert any(leaves_a_name(node) for node in ast.walk(ast.parse(code)))


@pytest.mark.parametrize("code", ["path.write_text('a')", "open(path, 'w')", "path.open('ab')", "np.save(path, a)"])
def test_such_a_call_is_seen(code):
    assert any(writes(node) for node in ast.walk(ast.parse(code)))


@pytest.mark.parametrize("code", ["path.open('rb')", "open(path)", "np.save(buffer, a)", "archive.open(info, 'w')"])
def test_a_call_that_reads_or_writes_into_memory_is_none(code):
    assert not any(writes(node) for node in ast.walk(ast.parse(code)))
