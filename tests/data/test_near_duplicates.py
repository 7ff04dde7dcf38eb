"""Near-duplicates among texts."""

from __future__ import annotations

import numpy as np

from offsphere.data.near_duplicates import first_of_each


def test_near_duplicates_are_found_and_others_are_not():
    rng = np.random.default_rng(0)
    vocabulary = [f"word{n}" for n in range(2000)]
    texts = [" ".join(rng.choice(vocabulary, 80)) for _ in range(60)]
    nearly = [text.replace(text.split()[40], "changed", 1) for text in texts[:20]]
    assert first_of_each([*texts, *nearly, *texts[5:9]]) == list(range(60))
