"""``offsphere doctor`` knows every extra, and the shell completes commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from importlib.metadata import version

import pytest
from typer.testing import CliRunner

from offsphere.base import installed
from offsphere.base.extras import PACKAGES
from offsphere.cli import app
from tests.processes import COMMAND, ROOT

TOGETHER = {"engines", "test", "benchmark", "docs"}  # made of others, or for those who work on the package


def extras_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return set(project["optional-dependencies"]) - TOGETHER


def test_every_extra_of_the_project_is_known_and_none_else():
    assert set(installed.GIVES) == extras_of_the_project()
    assert {extra for _, extra in PACKAGES.values()} <= set(installed.GIVES)
    assert all(extra.versions for extra in installed.installation().extras)


def test_it_tells_the_versions_that_pip_tells():
    told = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)
    assert told["core"]["numpy"] == version("numpy")
    faiss = next(extra for extra in told["extras"] if extra["name"] == "faiss")
    assert faiss["there"]
    assert faiss["versions"]["faiss-cpu"] == version("faiss-cpu")


def test_what_is_missing_comes_with_its_command(monkeypatch):
    known = installed._version
    monkeypatch.setattr(installed, "_version", lambda package: None if package == "polars" else known(package))
    shown = CliRunner().invoke(app, ["doctor"])
    assert shown.exit_code == 0
    assert "no (polars): pip install 'offsphere[polars]'" in shown.output
    assert shown.output.count("MISSING") == 0


@pytest.mark.parametrize(("typed", "expected"), [("au", "audit"), ("doc", "doctor"), ("audit --met", "--metric")])
def test_bash_completes_what_is_typed(typed, expected):
    words = typed.split()
    environment = {
        **os.environ,
        "_OFFSPHERE_COMPLETE": "complete_bash",
        "COMP_WORDS": f"offsphere {typed}",
        "COMP_CWORD": str(len(words)),
    }
    script = f"import sys; sys.argv = ['offsphere']; {COMMAND}"
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert expected in done.stdout.split()


def test_the_citation_names_the_version_that_is_here():
    yaml = pytest.importorskip("yaml")
    from offsphere.base.version import __version__

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (citation["version"], citation["license"]) == (__version__, "Apache-2.0")
    assert {"cff-version", "message", "title", "authors"} <= set(citation)


def test_workflow_and_hooks_run_what_the_makefile_runs():
    yaml = pytest.importorskip("yaml")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"][0]["hooks"]
    for hook in hooks:
        assert hook["entry"].split()[0].removeprefix(".venv/bin/") in makefile
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8"))["jobs"]
    assert {"run": "make test"} in jobs["everything"]["steps"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = [line.rpartition(" ")[2] for line in project["classifiers"] if "Python :: 3." in line]
    assert jobs["versions"]["strategy"]["matrix"]["python"] == named
    for folder in jobs["versions"]["steps"][-1]["run"].split()[5:]:
        assert (ROOT / folder).is_dir()
