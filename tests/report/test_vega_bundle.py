"""The JavaScript of charts: in the package when it was built, else from vl-convert, else a line says how to get it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from offsphere.base.errors import MissingExtraError
from offsphere.cli.steps.learning_parts import formats_of
from offsphere.report import page


def test_what_was_built_is_taken_and_vl_convert_not_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    monkeypatch.setattr(page, "BUILT", "copy.js")  # a file that is there in any case
    assert page.vega_bundle() == Path(page.__file__).with_name("copy.js").read_text("utf-8")


def test_a_checkout_that_was_never_built_makes_the_bundle(monkeypatch):
    monkeypatch.setattr(page, "BUILT", "never-built.js")
    assert "vegaEmbed" in page.vega_bundle()


def test_without_either_one_is_told_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    monkeypatch.setattr(page, "BUILT", "never-built.js")
    with pytest.raises(MissingExtraError, match=r"'vl-convert-python': pip install 'offsphere\[figures\]'"):
        page.vega_bundle()


def test_figures_as_files_are_refused_before_anything_is_trained(monkeypatch):
    assert formats_of(None) == []
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'offsphere\[figures\]'"):
        formats_of("svg")
