"""The JavaScript of charts: in the package when it was built, else from vl-convert, else a line says how to get it."""

from __future__ import annotations

import sys

import pytest

from offsphere.base.errors import MissingExtraError
from offsphere.cli.learning_parts import formats_of
from offsphere.report import vega_bundle


def test_what_was_built_is_taken_and_vl_convert_not_needed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    monkeypatch.setattr(vega_bundle, "BUILT", tmp_path / "vega.js")
    vega_bundle.BUILT.write_text("built", "utf-8")
    assert vega_bundle.vega_bundle() == "built"


def test_a_checkout_that_was_never_built_makes_the_bundle(tmp_path, monkeypatch):
    monkeypatch.setattr(vega_bundle, "BUILT", tmp_path / "vega.js")
    assert "vegaEmbed" in vega_bundle.vega_bundle()


def test_without_either_one_is_told_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    monkeypatch.setattr(vega_bundle, "BUILT", tmp_path / "vega.js")
    with pytest.raises(MissingExtraError, match=r"'vl-convert-python': pip install 'offsphere\[figures\]'"):
        vega_bundle.vega_bundle()


def test_figures_as_files_are_refused_before_anything_is_trained(monkeypatch):
    assert formats_of(None) == []
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'offsphere\[figures\]'"):
        formats_of("svg")
