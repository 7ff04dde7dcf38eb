"""Keys of vectors."""

from __future__ import annotations

import numpy as np

from offsphere.vectors.contents import keys_of


def test_keys_depend_on_contents_alone():
    rows = np.random.default_rng(2).standard_normal((5, 4)).astype(np.float32)
    keys = keys_of(rows)
    assert len(set(keys.tolist())) == 5
    assert (keys_of(rows[[3, 0]]) == keys[[3, 0]]).all()
    assert len(keys_of(rows[:0])) == 0
