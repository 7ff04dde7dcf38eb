"""Whatever goes wrong, the command ends with one line and an exit code that says whose turn it is."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.processes import PATIENCE, environment_with, run_command, run_warm

BROKEN = """
import typer
from offsphere import cli

@cli.app.command("break")
def break_command(kind: str) -> None:
    if kind == "warn":
        import warnings, numpy
        warnings.warn("a library's own words")
        numpy.float32(1e38) * numpy.float32(1e38)
        return
    if kind == "panic":
        import polars
        raise polars.exceptions.PanicException("index out of bounds\\nand more")
    raise {"bug": ZeroDivisionError("division by zero\\nand more"), "memory": MemoryError(),
           "file": OSError(36, "File name too long", "x" * 5000)}[kind]

cli.main()
"""


def ended(kind, *more):
    return run_warm(BROKEN, "break", kind, *more, imports=("tests.command",))


def test_what_nobody_thought_of_is_called_a_bug_in_one_line():
    result = ended("bug")
    assert result.returncode == 70
    assert result.stdout == ""
    assert result.stderr == (
        "offsphere: this is a bug of offsphere (ZeroDivisionError: division by zero): run it again with --debug and "
        "report what it shows\n"
    )


def test_a_library_in_rust_that_fails_itself_is_no_traceback():
    pytest.importorskip("polars", reason="polars, which has the exception of all extensions in Rust, is not installed")
    result = ended("panic")
    assert result.returncode == 70
    assert result.stderr.startswith("offsphere: this is a bug of offsphere (PanicException: index out of bounds): run")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("before", [True, False])
def test_debug_shows_where_it_happened(before):
    code = BROKEN if before else BROKEN.replace("cli.main()", "import sys; sys.argv.append('--debug'); cli.main()")
    typed = ["--debug", "break", "bug"] if before else ["break", "bug"]
    result = run_warm(code, *typed, imports=("tests.command",))
    assert result.returncode == 70
    assert "Traceback" in result.stderr
    assert "in break_command" in result.stderr


@pytest.mark.parametrize(("kind", "words"), [("memory", "the memory of this machine"), ("file", "File name too long")])
def test_what_the_machine_refuses_is_the_user_s_turn(kind, words):
    result = ended(kind)
    assert result.returncode == 2
    assert words in result.stderr
    assert result.stderr.count("\n") == 1
    assert len(result.stderr) < 2_500


def test_warnings_of_libraries_are_not_for_the_user():
    assert ended("warn").stderr == ""
    assert "a library's own words" in ended("warn", "--debug").stderr


@pytest.mark.parametrize("typed", ["--help", "recipes", "cache info --json"])
def test_output_onto_a_full_device_is_one_line(typed):
    """The help is printed by typer, tables by rich, JSON by ourselves."""
    if typed == "recipes":
        pytest.importorskip("torch")
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "offsphere", *typed.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
            env=environment_with(),
            check=False,
        )
    assert result.returncode == 2
    assert result.stderr == "offsphere: No space left on device\n"


ONTO_FULL = """
import os
os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
from offsphere.cli import main
main()
"""


@pytest.fixture(scope="module")
def ranking(tmp_path_factory):
    from tests.kills.commands import write_ranking

    folder = tmp_path_factory.mktemp("ranking")
    write_ranking(folder)
    return folder


@pytest.mark.parametrize(
    "typed",
    [
        "compare {data}",
        "compare {data} --json",
        "measure {data}",
        "measure {data} --json",
        "audit {data} --out {out}/audit.html",
        "audit {data} --json",
        "data info {data}",
        "data info {data} --json",
    ],
)
def test_results_onto_a_full_device_are_one_line(typed, ranking, tmp_path, monkeypatch):
    """Nothing that was measured is printed in part and called success."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    words = typed.format(data=ranking, out=tmp_path).split()
    result = run_warm(ONTO_FULL, *words, imports=("tests.command",), cwd=tmp_path)
    assert result.returncode == 2
    told = [line for line in result.stderr.splitlines() if line.startswith("offsphere: ")]
    assert told == ["offsphere: No space left on device"]
    assert "Traceback" not in result.stderr


def test_output_that_nobody_reads_is_no_error():
    with subprocess.Popen(
        [sys.executable, "-m", "offsphere", "--help"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment_with(),
    ) as command:
        command.stdout.close()
        assert command.stderr.read() == b""


def test_a_message_is_one_line_whatever_an_id_holds(tmp_path):
    (tmp_path / "pairs.csv").write_text("sentence1,sentence2,score\na,b,one\n" + "c,d," + "9" * 100_000 + "x\n")
    result = run_command("data", "info", tmp_path / "pairs.csv")
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    result = run_command("data", "info", "a\nb\x1b[31m" + "c" * 10_000)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "\x1b" not in result.stderr
    assert len(result.stderr) < 2_500


def test_ctrl_c_says_what_is_kept_and_how_to_go_on(tmp_path):
    (tmp_path / "slow.py").write_text(
        "import pathlib, time\n"
        "def rows(texts):\n"
        "    if len(texts) > 1:\n"
        "        pathlib.Path('began').touch()\n"
        "        time.sleep(0.2)\n"
        "    return [[len(text), 1.0] for text in texts]\n"
    )
    lines = "".join(f"sentence {n},another {n % 7},{n}\n" for n in range(40_000))
    (tmp_path / "pairs.csv").write_text(f"sentence1,sentence2,score\n{lines}")
    command = subprocess.Popen(
        [sys.executable, "-m", "offsphere", "embed", "pairs.csv", "--model", "callable:slow:rows", "--out", "out"],
        cwd=tmp_path,
        env=environment_with(tmp_path),
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "began").exists():
        assert command.poll() is None, command.stderr.read()
        time.sleep(0.02)
    command.send_signal(signal.SIGINT)
    _, stderr = command.communicate(timeout=PATIENCE)
    assert command.returncode == 130
    assert stderr.count("\n") == 1
    assert "stopped; " in stderr
    assert "run the same command again" in stderr


STOPPED = """
import importlib, sys
from offsphere.cli import main

def stop(*_, **__):
    raise KeyboardInterrupt

module, name = sys.argv.pop(1).rsplit(".", 1)
setattr(importlib.import_module(module), name, stop)
main()
"""
KEPT = {
    "audit": ("offsphere.auditing.run.audit", "is in the cache: run the same command again, it goes on from there"),
    "adapt": ("offsphere.learning.adapters.learn.learn", "stopped; nothing was written"),
    "ablate": ("offsphere.learning.ablation.ablate_adapters.ablate", "trained so far are in out: run the same command"),
}


@pytest.mark.parametrize("command", KEPT)
def test_what_is_kept_is_told_by_every_command_that_keeps_something(command, tmp_path):
    from tests.kills.commands import write_ranking

    write_ranking(tmp_path)
    function, words = KEPT[command]
    result = run_warm(STOPPED, function, command, tmp_path, "--out", "out", imports=("tests.command",), cwd=tmp_path)
    assert result.returncode == 130
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["adapt"], "Missing argument"),
        (["compare", "x", "--fold", "3"], "--folds"),
        (["compare", "x", "--folds", "three"], "--folds"),
        (["audi", "x"], "No such command 'audi'"),
        (["--nothing"], "No such option: --nothing"),
        (["data", "nothing"], "No such command 'nothing'"),
    ],
)
def test_what_was_typed_wrong_is_told_in_one_line_with_where_to_look(typed, said):
    result = run_command(*typed)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert said in result.stderr
    assert "--help" in result.stderr
