"""Shared by all tests: no network, and where the real data sets are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("HF_HUB_OFFLINE", "1")
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # the workers share the cores; torch reads it when it is imported

# kernels are compiled on first use, which is no property of an example
settings.register_profile("offsphere", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("offsphere")

DATA = Path(os.environ.get("OFFSPHERE_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture
def real_data() -> Path:
    """The folder of real data sets."""
    if not DATA.is_dir():
        pytest.skip("the folder of real data sets (OFFSPHERE_TEST_DATA) is not here")
    return DATA
