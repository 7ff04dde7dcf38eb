"""What the pages name is there: files, folders of the house, modules, public names, commands and what links lead to."""

from __future__ import annotations

import re
import shutil
import subprocess
from datetime import date
from importlib import import_module
from pathlib import Path

import pytest
import typer

import offsphere
from offsphere.cli import app
from tests.processes import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")])
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


HOUSE = (ROOT / "docs" / "house.md").read_text("utf-8").partition("## Where is ...?")[2]
SOURCE = ROOT / "src" / "offsphere"


def modules_named(answer):
    """The modules of the package that an answer names, by a path from a room or by the name of the file alone."""
    names = re.findall(r"`([a-z_/]+\.py)`", answer)
    return [
        path.relative_to(SOURCE)
        for name in names
        for path in SOURCE.rglob(Path(name).name)
        if path.as_posix().endswith(f"/{name}") and path.name != "__init__.py"
    ]


@pytest.mark.parametrize(
    "answer", [row for row in re.findall(r"^\| .* \| (.*) \|$", HOUSE, re.MULTILINE) if modules_named(row)]
)
def test_what_one_may_ask_for_is_tested_where_it_stands(answer):
    """Of the modules that answer a question, one at least has its tests in a file of its own, which mirrors it."""
    assert any((ROOT / "tests" / path.parent / f"test_{path.name}").exists() for path in modules_named(answer))


def anchors(page):
    """What links to headings of a page are called, by the rule of GitHub and of the site."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = [heading.strip().lower() for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    broken = []
    for link in re.findall(r"\[[^\]]+\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text)):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if "://" not in link and (not target.exists() or (anchor and anchor not in anchors(target))):
            broken.append(link)
    assert broken == []


def test_every_change_stands_under_its_day_the_newest_first():
    _, *releases = re.split(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)
    for release, changes in zip(releases[::2], releases[1::2], strict=True):
        assert re.fullmatch(r"\d+\.\d+\.\d+ \((?:unreleased|\d{4}-\d\d-\d\d)\)", release)
        before, *days = re.split(r"^### (.+)$", changes, flags=re.MULTILINE)
        assert not before.strip()
        assert all(text.strip().startswith("- ") for text in days[1::2])
        dates = [date.fromisoformat(day) for day in days[::2]]
        assert dates == sorted(set(dates), reverse=True)


def test_the_page_of_the_command_line_has_every_command():
    table = (ROOT / "docs" / "command-line.md").read_text("utf-8").partition("## Commands")[2]
    named = {
        name for row in re.findall(r"^\| (`[^|]+) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    assert named == set(typer.main.get_command(app).commands)


@pytest.mark.skipif(shutil.which("git") is None, reason="git applies the diffs")
@pytest.mark.parametrize("diff", re.findall(r"```diff\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL))
def test_the_diffs_that_show_how_to_add_a_part_still_apply(diff):
    subprocess.run(["git", "apply", "--check", "-"], input=diff, text=True, cwd=ROOT, check=True)
