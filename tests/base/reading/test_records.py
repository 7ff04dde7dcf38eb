"""Objects of JSON become records, or an error that names the field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, Literal, NamedTuple

import pytest

from offsphere.base.errors import DataError
from offsphere.base.reading.records import record_of


class Inner(NamedTuple):
    value: float
    name: str = "inner"


@dataclass
class Outer:
    count: int
    share: float
    inner: Sequence[Inner] = ()
    pair: tuple[int, float] | None = None
    kind: Literal["a", "b"] = "a"
    counts: Mapping[str, int] | None = None
    anything: Any = None
    flag: bool = False


WHOLE = {"count": 1, "share": 0.5}


def test_records_within_records_are_made_too():
    record = record_of(Outer, {**WHOLE, "inner": [{"value": 1}], "pair": [2, 3.5], "counts": {"x": 1}}, "file")
    assert record == Outer(1, 0.5, [Inner(1)], (2, 3.5), "a", {"x": 1})


def test_nothing_stands_for_what_is_no_number_only_where_that_is_said():
    with pytest.raises(DataError, match="'share' is None"):
        record_of(Outer, {**WHOLE, "share": None}, "file")
    assert isnan(record_of(Outer, {**WHOLE, "share": None}, "file", null_is_nan=True).share)
    assert record_of(Outer, {**WHOLE, "pair": None}, "file", null_is_nan=True).pair is None


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ([], "expected a JSON object, found list"),
        ({"count": 1}, "'share' is missing"),
        ({**WHOLE, "more": 1}, "unknown field 'more'"),
        ({**WHOLE, "count": True}, "'count' is True, which is no int"),
        ({**WHOLE, "count": 1.0}, "which is no int"),
        ({**WHOLE, "count": 2**63}, "which is no int"),
        ({**WHOLE, "share": 10**400}, "which is no float"),
        ({**WHOLE, "share": float("inf")}, "which is no float"),
        ({**WHOLE, "share": "0.5"}, "which is no float"),
        ({**WHOLE, "inner": [{"value": 1, "other": 2}]}, "unknown field 'other'"),
        ({**WHOLE, "inner": [1]}, "expected a JSON object"),
        ({**WHOLE, "inner": "text"}, "'inner' is 'text'"),
        ({**WHOLE, "pair": [1]}, "'pair' is"),
        ({**WHOLE, "pair": [1, 2, 3]}, "'pair' is"),
        ({**WHOLE, "kind": "c"}, "'kind' is 'c'"),
        ({**WHOLE, "kind": ["a"]}, "'kind' is"),
        ({**WHOLE, "counts": {"x": "1"}}, "'counts' is"),
        ({**WHOLE, "flag": 1}, "'flag' is 1, which is no bool"),
    ],
)
def test_what_does_not_fit_is_named(values, match):
    with pytest.raises(DataError, match=match):
        record_of(Outer, values, "file")
