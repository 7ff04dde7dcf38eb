"""The page that goes through the papers names functions and tests that exist."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from offsphere.learning.ablation.claims import BEFORE, CLAIMS
from tests.conftest import DATA
from tests.processes import ROOT

PAGE = (ROOT / "docs" / "papers.md").read_text("utf-8")
HEADS = ["formula", "function", "test", "where we differ"]
FORMULAS, TOLD = PAGE.split("## Claims, judged by what was claimed")
LINES = [re.split(r"(?<!\\)\|", line.strip().strip("|")) for line in FORMULAS.splitlines() if line.startswith("| ")]
ROWS = [[cell.strip() for cell in line] for line in LINES if not line[0].strip().startswith("---")]
ENTRIES = [row for row in ROWS if row != HEADS]


@cache
def known_tests():
    functions = (
        re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
        for path in (ROOT / "tests").rglob("test_*.py")
    )
    return {name for found in functions for name in found}


@cache
def names_in(path):
    """What a file of the house defines at its top."""
    names = set()
    for node in ast.parse((ROOT / "src" / "offsphere" / path).read_text("utf-8")).body:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        names |= {target.id for target in targets if isinstance(target, ast.Name)}
        names |= {node.name} if isinstance(node, ast.FunctionDef | ast.ClassDef) else set()
    return names


@pytest.mark.parametrize("row", ENTRIES, ids=lambda row: row[0])
def test_a_formula_has_a_function_and_a_test_or_is_said_not_to(row):
    assert len(row) == len(HEADS)
    _, function, tested, differs = row
    assert differs
    if function == "not built":
        assert tested == "none"
        return
    places = re.findall(r"`([\w/]+\.py)`: ((?:`\w+`(?:, )?)+)", function)
    assert places
    for path, names in places:
        assert set(re.findall(r"`(\w+)`", names)) <= names_in(path)
    assert "`test_" in tested or tested == "the same two"


def test_every_test_that_is_named_exists():
    assert set(re.findall(r"`(test_\w+)`", PAGE)) - known_tests() == set()


def test_every_paper_of_the_notes_stands_on_the_page():
    notes = DATA.parent / "papers.md"
    if not notes.is_file():
        pytest.skip(f"{notes} is not here")
    numbers = set(re.findall(r"\b\d{4}\.\d{5}\b", notes.read_text("utf-8")))
    assert numbers
    assert numbers - set(re.findall(r"\d{4}\.\d{5}", PAGE)) == set()


def test_every_table_has_the_same_heads():
    assert ROWS.count(HEADS) == FORMULAS.count("| --- | --- | --- | --- |")
    assert len(ENTRIES) > 50


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text)
def test_the_page_tells_every_claim_as_it_is_judged(claim):
    (line,) = [line for line in TOLD.splitlines() if line.startswith(f"| {claim.text} |")]
    _, paper, variants, quantity, least = [cell.strip() for cell in line.strip("|").split("|")]
    assert claim.paper.startswith((paper, "our own", "the grid"))
    baseline = "its own start" if claim.baseline == BEFORE else claim.baseline
    assert variants.removesuffix(", on new documents and elsewhere") == " ".join(
        [claim.variant, "other than" if claim.kind == "other" else claim.kind, baseline]
    )
    assert quantity == (claim.quantity or "metric")
    assert str(claim.least.largest_batch or (claim.least.seeds if claim.quantity else claim.least.steps)) in least
