"""sqlite-vec: exact by cosine and distance; inner products go by distance, with one more coordinate."""

from __future__ import annotations

import numpy as np
import pytest

from offsphere.base.errors import OffsphereError
from offsphere.engines.collection import Layout
from offsphere.engines.export import export
from offsphere.engines.metric import Metric
from offsphere.engines.registry import engine_of
from tests.engines import engine_laws as laws

apsw = pytest.importorskip("apsw")
sqlite_vec = pytest.importorskip("sqlite_vec")


@pytest.fixture
def target(tmp_path):
    return f"sqlite:{tmp_path}/vectors.db:docs"


@pytest.mark.parametrize("name", laws.SCORERS + laws.BIASED)
def test_every_scorer_is_served_exactly(target, name):
    """Scores of inner products come from squared distances in float32, of vectors as long as the longest."""
    laws.check_exact(target, name, error=1e-2 if "cosine" not in name else 1e-2)
