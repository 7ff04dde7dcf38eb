"""Where numbers stand in a sorted array."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from offsphere.base.spans import spans


@given(st.lists(st.integers(0, 5)), st.lists(st.integers(0, 6)))
def test_spans_are_all_hits(numbers, wanted):
    ordered = np.sort(np.array(numbers, np.int64))
    which, positions = spans(ordered, np.array(wanted, np.int64))
    hits = [(i, j) for i, value in enumerate(wanted) for j, other in enumerate(ordered.tolist()) if value == other]
    assert list(zip(which.tolist(), positions.tolist(), strict=True)) == hits
