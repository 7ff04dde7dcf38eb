"""Tables broken down by groups of queries: the groups make the whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.data.grouping import Grouping


def test_tables_are_broken_down_by_groups_and_groups_make_the_whole():
    rng = np.random.default_rng(0)
    judged = {f"q{row}": {f"d{row}": 1} for row in range(40)}
    task = osp.RankingTask.from_judgments(judged, [f"d{row}" for row in range(60)])
    task = replace(task, groups=[Grouping("type", rng.choice(["a", "b", "c"], 40).tolist())])
    documents = rng.normal(size=(60, 6)) * rng.lognormal(0, 1, (60, 1))
    vectors = task.vectors(
        *(rows.astype(np.float32) for rows in (documents[:40] + rng.normal(size=(40, 6)), documents))
    )
    table = osp.compare(task, vectors, ["dot"], by="type")
    cells = [cell for cell in table.breakdown.cells if cell.scorer == "dot"]
    assert sum(cell.units for cell in cells) == task.units
    assert sum(cell.units * cell.value for cell in cells) / task.units == pytest.approx(table["dot"].value)
    gained = sum(cell.units * cell.gain.difference for cell in cells) / task.units
    assert gained == pytest.approx(table["dot"].difference)
    assert table.to_json()["breakdown"]["by"] == "type"
    with pytest.raises(OffsphereError, match="unknown group of the queries of task 'typ': did you mean type"):
        osp.compare(task, vectors, ["dot"], by="typ")
