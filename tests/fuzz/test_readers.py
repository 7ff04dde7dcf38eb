"""Whoever reads files is fuzzed: each caller of a reader has a format, or there is a reason why not."""

from __future__ import annotations

import ast

import pytest

from tests.fuzz.readers import FUZZED_AS, NOT_FUZZED, callers, modules_that_ran, readers_in
from tests.fuzz.subjects import SUBJECTS


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


def test_modules_that_run_are_seen(tmp_path):
    from offsphere.scoring.names import parse_scorer
    from offsphere.scoring.scorer import Scorer

    parse_scorer("cosine").save(tmp_path)
    scorer, ran = modules_that_ran(lambda: Scorer.load(tmp_path))
    assert scorer.name == "cosine"
    assert "scoring.scorer_files" in ran
    assert "data.vector_files" not in ran
