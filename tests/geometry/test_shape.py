"""A section is a field of Geometry: everything else that knows sections derives from it, or is checked here."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
from typer.testing import CliRunner

import offsphere as osp
from offsphere.cli import app
from offsphere.cli.tables.shape_tables import TABLES, print_shape
from offsphere.geometry import SECTIONS, Geometry
from offsphere.geometry import shape as shape_module
from offsphere.statistics.estimate import Estimate


def test_sections_stand_in_the_order_in_which_they_are_measured_and_printed():
    rows = np.random.default_rng(0).normal(size=(60, 6)).astype(np.float32)
    shape = osp.measure(rows)
    content = shape.to_json()
    assert list(content) == ["of", *(name for name in SECTIONS if name in shape.parts), "skipped"]
    does_not_apply = {"modalities"}  # vectors alone are of no kind
    assert set(shape.parts) | set(shape.skipped) | does_not_apply == set(SECTIONS)
    assert [part["sentence"] for name in shape.parts for part in content[name]] == shape.sentences


def test_the_help_names_every_section():
    text = CliRunner().invoke(app, ["measure", "--help"], env={"COLUMNS": "300"}).stdout
    assert all(name in text for name in SECTIONS)


def test_tables_are_of_sections_that_exist():
    assert set(TABLES) <= set(SECTIONS)


@dataclass(frozen=True, slots=True, eq=False)
class Zeros:
    """How many numbers of a side's vectors are zero."""

    side: str
    zero_share: float
    mean: Estimate
    by_dimension: np.ndarray

    @property
    def sentence(self) -> str:
        return f"{self.side}: {self.zero_share:.0%} of the numbers are zero"


def test_a_section_without_a_table_of_its_own_is_printed_by_its_fields(monkeypatch, capsys):
    monkeypatch.setattr(shape_module, "SECTIONS", ("lengths",))
    monkeypatch.delitem(TABLES, "lengths")
    part = Zeros("vector", 0.25, Estimate(1.0, 0.5, 1.5), np.zeros(3))
    shape = Geometry({"vectors": {"vector": [4, 3]}}, lengths=[part])
    print_shape(shape)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["side", "zero", "share", "mean"] in lines
    assert ["vector", "0.25", "1.000", "[0.500,", "1.500]"] in lines
    assert json.loads(json.dumps(shape.to_json()))["lengths"][0]["zero_share"] == 0.25
