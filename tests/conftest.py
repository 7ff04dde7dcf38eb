"""Shared by all tests: no network, where the real data sets are, and their vectors."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

os.environ.setdefault("HF_HUB_OFFLINE", "1")
# how long a command takes on a busy machine must not change what it writes
os.environ.setdefault("OFFSPHERE_QUIET", "1")
# some virtual machines name AMX among their instructions and kill who uses it, as torch does for bfloat16
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # the workers share the cores; torch reads it when it is imported

# kernels are compiled on first use, which is no property of an example
settings.register_profile("offsphere", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("offsphere")

collect_ignore = ["interpreted_ranx.py"]  # for a process of its own: it switches numba's compiler off

DATA = Path(os.environ.get("OFFSPHERE_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))


def pytest_xdist_auto_num_workers() -> int:
    """One worker more than cores: a third of its time a worker waits for disks, servers and killed processes."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data sets."""
    if not DATA.is_dir():
        pytest.skip("the folder of real data sets (OFFSPHERE_TEST_DATA) is not here")
    return DATA


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory) -> Path:
    """A folder that all processes of one test run share: with xdist their own folders lie side by side in it."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@pytest.fixture(scope="session")
def embedded(real_data, shared_folder):
    """A function from the name of a real data set, and a split, to the task and its vectors by the static model.

    Each data set is embedded once in a test run, whichever process asks first.
    """
    from offsphere import embed, load_task

    @cache
    def load(name, split=None):
        task = load_task(real_data / name, split)
        with FileLock(shared_folder / f"{name}.lock"):
            return task, embed(task, "wordllama", shared_folder / "wordllama" / name)

    return load
