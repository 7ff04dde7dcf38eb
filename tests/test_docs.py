"""What the pages name is there: files, folders of the house, modules and public names."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib import import_module

import pytest

import offsphere
from tests.processes import ROOT

PAGES = sorted(
    path for folder in (".", "docs", "docs/experiments", "benchmarks") for path in (ROOT / folder).glob("*.md")
)
PATHS = [
    path.relative_to(ROOT).as_posix()
    for folder in ("src", "tests", "benchmarks", "scripts")
    for path in (ROOT / folder).rglob("*")
]


def resolves(name):
    """Whether a dotted name is a module, or an attribute of one."""
    module, parts = "offsphere", name.split(".")[1:]
    value = offsphere
    for part in parts:
        try:
            value = getattr(value, part)
        except AttributeError:
            try:
                value = import_module(f"{module}.{part}")
            except ImportError:
                return False
        module = f"{module}.{part}"
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_names_what_is_there(page):
    text = re.sub(r"```diff\n.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)  # they add what is not there
    quoted = re.findall(r"`([^`\n]+)`", text)
    files = [name for name in quoted if re.fullmatch(r"[\w/]+\.py", name)]
    if page.name == "house.md":
        files += [name.rstrip("/") for name in quoted if re.fullmatch(r"[a-z_/]+/", name)]
    missing = [name for name in files if not any(path == name or path.endswith(f"/{name}") for path in PATHS)]
    missing += [name for name in re.findall(r"\boffsphere(?:\.[A-Za-z_]+)+", text) if not resolves(name)]
    missing += [name for name in re.findall(r"\bosp\.(\w+)", text) if name not in offsphere.__all__]
    assert missing == []


@pytest.mark.skipif(shutil.which("git") is None, reason="git applies the diffs")
@pytest.mark.parametrize("diff", re.findall(r"```diff\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL))
def test_the_diffs_that_show_how_to_add_a_part_still_apply(diff):
    subprocess.run(["git", "apply", "--check", "-"], input=diff, text=True, cwd=ROOT, check=True)
