"""Whoever reads files is fuzzed: each caller of a reader has a format, or there is a reason why not."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from tests.fuzz.coverage_guided import LED_BY
from tests.fuzz.readers import FUZZED_AS, NOT_FUZZED, callers, modules_that_ran, readers_in
from tests.fuzz.subjects import SUBJECTS
from tests.processes import ROOT, environment_with


def test_every_caller_of_a_reader_has_a_format_or_a_reason():
    assert not FUZZED_AS.keys() & NOT_FUZZED.keys()
    assert sorted(callers()) == sorted(FUZZED_AS | NOT_FUZZED)


def test_the_formats_are_there():
    assert set(FUZZED_AS.values()) <= SUBJECTS.keys()


@pytest.mark.parametrize(
    ("code", "readers"),
    [
        ("from offsphere.base.reading.npy_files import map_npy, read_npy", {"map_npy", "read_npy"}),
        ("def f():\n    from offsphere.base.reading.sealed_json import read_sealed, write_sealed", {"read_sealed"}),
        ("from offsphere.base.reading.file_access import MOST_BYTES, is_there", set()),
        ("from offsphere.base.reading.records import record_of", set()),
        ("from offsphere.data.store import open_store", set()),
    ],
)
def test_a_reader_that_is_used_is_seen(code, readers):
    assert readers_in(ast.parse(code)) == readers


def test_coverage_leads_through_every_module_that_calls_a_reader():
    """A module that was imported earlier is run, and none of its lines is seen."""
    code = (
        "import sys\nfrom tests.fuzz.coverage_guided import LED_BY\nimport tests.fuzz.subjects\n"
        "modules = [f'offsphere.{name}' for name in LED_BY]\n"
        "print([name for name in modules if name in sys.modules])\n"
        "from importlib import import_module\nfor name in modules:\n    import_module(name)"
    )
    environment = environment_with(ROOT)
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "[]\n"
    assert {*FUZZED_AS} <= {*LED_BY}


def test_modules_that_run_are_seen(tmp_path):
    from offsphere.scoring.names import parse_scorer
    from offsphere.scoring.scorer import Scorer

    parse_scorer("cosine").save(tmp_path)
    scorer, ran = modules_that_ran(lambda: Scorer.load(tmp_path))
    assert scorer.name == "cosine"
    assert "scoring.scorer_files" in ran
    assert "data.vector_files" not in ran


def test_pages_name_the_formats_that_nobody_judges():
    """What only another error can fail is no right answer, and is counted apart."""
    page = " ".join((ROOT / "docs" / "promises.md").read_text().split())
    unjudged = sorted(name for name, subject in SUBJECTS.items() if subject.anything)
    assert f"({len(unjudged)} formats): {'; '.join(unjudged)}." in page
