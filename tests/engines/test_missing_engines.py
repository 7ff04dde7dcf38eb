"""An engine whose package is not installed says the command that installs it, and nothing is written."""

from __future__ import annotations

import sys

import pytest

from offsphere.base.errors import MissingExtraError
from offsphere.engines.exporting import export
from tests.engines.conftest import ROWS

TARGETS = {
    "lancedb": ("lancedb:{}/l:docs", "lancedb"),
    "psycopg": ("postgres:postgresql://127.0.0.1:1/none:docs", "postgres"),
    "duckdb": ("duckdb:{}/v.duckdb:docs", "duckdb"),
    "apsw": ("sqlite:{}/v.db:docs", "sqlite"),
    "sqlite_vec": ("sqlite:{}/v.db:docs", "sqlite"),
}


@pytest.mark.parametrize("package", TARGETS)
def test_a_missing_package_is_told_with_its_extra(tmp_path, monkeypatch, package):
    target, extra = TARGETS[package]
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'offsphere\[{extra}\]'"):
        export("cosine", ROWS, target.format(tmp_path))
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and not path.name.startswith(".")]
