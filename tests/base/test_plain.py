"""Results as values that JSON knows."""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from offsphere.base.plain import plain


class Point(NamedTuple):
    x: float
    y: object


@dataclass
class Box:
    corner: Point
    rows: np.ndarray


def test_results_become_what_json_knows():
    box = Box(Point(np.float32(0.5), float("nan")), np.array([[1, 2], [3, 4]]))
    value = {"box": box, 7: (np.int64(1), np.bool_(True), None, "text"), "more": OrderedDict(a=np.array([np.inf]))}
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == {
        "box": {"corner": {"x": 0.5, "y": None}, "rows": [[1, 2], [3, 4]]},
        "7": [1, True, None, "text"],
        "more": {"a": [None]},
    }
