from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import pytest

from offsphere import Scorer
from offsphere.cli.steps.audit_steps import ENGINES_TOLD
from tests.cli.running import run
from tests.processes import COMMAND_IMPORTS, environment_with, run_warm


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_one_command_one_answer_one_file(generated, tmp_path):
    result = run("audit", generated, "--out", tmp_path / "new" / "audit.html", "--save", tmp_path / "scorer")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Use ")
    assert "Relevant documents have longer vectors" in " ".join(result.stdout.split())
    assert lines[-1].startswith(f"The report is {tmp_path / 'new' / 'audit.html'} (")
    assert (tmp_path / "new" / "audit.html").read_text().startswith("<!doctype html>")
    assert Scorer.load(tmp_path / "scorer").name in lines[0]


def test_the_answer_fits_80_columns_and_verbose_says_more(generated, tmp_path):
    options = ["audit", generated, "--out", tmp_path / "audit.html"]
    brief, long = run(*options).stdout.splitlines(), run(*options, "--verbose").stdout.splitlines()
    assert max(map(len, [*brief[:-1], *long[:-1]])) <= 80  # the last line is the path of the report
    assert set(brief[:-2]) < set(long)
    assert brief[-2] == ENGINES_TOLD  # --verbose has the settings themselves
    assert "What the vectors look like:" in long
    assert any(line.startswith("- If you fine-tune") for line in long)
    assert not any(line.startswith("- If you fine-tune") for line in brief)


def test_the_settings_of_the_engine_that_is_named_are_said_and_shown_first(generated, tmp_path):
    page = tmp_path / "audit.html"
    result = run("audit", generated, "--engine", "QDRANT", "--out", page)
    assert "In Qdrant:" in result.stdout
    assert "In FAISS:" not in result.stdout
    assert re.search(r'checked><label for="engine-\d">Qdrant<', page.read_text())


@pytest.mark.parametrize("form", ["md", "json"])
def test_other_formats(generated, tmp_path, form):
    result = run("audit", generated, "--format", form, "--out", tmp_path / f"audit.{form}")
    assert result.returncode == 0, result.stderr
    text = (tmp_path / f"audit.{form}").read_text()
    if form == "json":
        assert json.loads(text)["advice"]["scorer"]
    else:
        assert text.startswith("# ")


def test_the_smallest_gain_that_matters_reaches_the_comparison(generated):
    result = run("audit", generated, "--json", "--worth", "0.123")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["comparison"]["worth"] == 0.123


def test_json_is_json_and_nothing_else_and_writes_nothing(generated, tmp_path):
    result = run("audit", generated, "--json", cwd=tmp_path, env=environment_with(Path.cwd()))
    assert json.loads(result.stdout)["advice"]["verdict"]
    assert not list(tmp_path.glob("audit*"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "pdf"], "format 'pdf': choose html, md or json"),
        (["--out", "/proc/audit.html"], "cannot write /proc/audit.html"),
        (["--metric", "ndgc@10"], "unknown metric 'ndgc@10'"),
        (["--engine", "qdrnt"], "unknown engine 'qdrnt': did you mean Qdrant"),
        (["--show", "q7", "--show", "nobody"], "has no query 'nobody' with a relevant document to show"),
        (["--vectors", "nowhere"], "nowhere is not a folder of vectors"),
        (["--model", "no-such-model-here"], "model 'no-such-model-here' was not found"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(generated, arguments, message):
    result = run("audit", generated, *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_an_unwritable_place_is_noticed_before_the_work(tmp_path):
    """The data is not even there, and still the folder is what it complains of."""
    result = run("audit", tmp_path / "nothing", "--out", "/proc/no/audit.html")
    assert "cannot write" in result.stderr


KILLED = """
import os, signal
from offsphere.base import cache
from offsphere.cli import main

write = cache.write_whole

def write_and_be_killed(path, content):
    write(path, content)
    os.kill(os.getpid(), signal.SIGKILL)

cache.write_whole = write_and_be_killed  # the first part of the audit that is kept is its last
main()
"""


@pytest.mark.slow
def test_a_killed_audit_goes_on_and_says_the_same(generated, tmp_path):
    options = ["audit", generated, "--out", tmp_path / "audit.md", "--format", "md"]
    killed = run_warm(KILLED, *options, imports=COMMAND_IMPORTS)
    assert killed.returncode == -signal.SIGKILL
    parts = tmp_path / "cache" / "offsphere" / "audits"
    assert list(parts.glob("*/*.npz"))
    assert not (tmp_path / "audit.md").exists()
    resumed = run(*options)
    fresh = run(
        "audit",
        generated,
        "--out",
        tmp_path / "fresh.md",
        "--format",
        "md",
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "other")},
    )
    assert resumed.stdout.splitlines()[:-1] == fresh.stdout.splitlines()[:-1]
    assert (tmp_path / "audit.md").read_text() == (tmp_path / "fresh.md").read_text()


def test_the_demo_audits_docstrings_and_says_where_the_report_is(demo):
    assert demo.returncode == 0, demo.stderr
    assert "judged by a program, not by people" in " ".join(demo.stdout.split())
    assert demo.stdout.rstrip().splitlines()[-1].startswith(f"The report is {demo.out / 'audit.html'}")
    assert (demo.out / "task" / "qrels" / "test.tsv").is_file()


def test_the_demo_says_which_commands_it_runs_and_what_learning_adds(demo):
    task, vectors, report = demo.out / "task", demo.out / "vectors", demo.out / "audit.html"
    commands = [line for line in demo.stdout.splitlines() if line.startswith("$ ")]
    assert commands == [
        f"$ offsphere data docstrings --out {task}",
        f"$ offsphere audit {task} --model wordllama --vectors {vectors} --adapt --out {report}",
    ]
    assert "If you train an adapter on these vectors:" in demo.stdout
    assert 'id="learned"' in report.read_text()
