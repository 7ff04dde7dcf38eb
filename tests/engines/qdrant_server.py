"""Qdrant's REST interface on this machine: each request is answered by the client's own implementation in memory.

The program that serves it elsewhere is not to be had from PyPI, npm or Debian. What is real here is the network, the
client in its mode for servers, with its addresses, bodies and errors, and the implementation behind: the one that
Qdrant's client has for ``:memory:``. It has no graph and no quantization, so the settings of these are kept and told
again, and nothing else is made of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from threading import Lock, Thread

from pydantic import TypeAdapter
from qdrant_client import QdrantClient, models

KEPT = ("hnsw_config", "quantization_config")  # settings that the implementation in memory does not have


class QdrantServer(ThreadingHTTPServer):
    """A server; ``client`` is what it holds, which outlives it, as a disk does."""

    daemon_threads = True

    def __init__(
        self, client: QdrantClient, port: int = 0, key: str | None = None, requests: int | None = None
    ) -> None:
        super().__init__(("127.0.0.1", port), Answering)
        self.client, self.key, self.left = client, key, requests
        self.settings: dict[str, dict[str, object]] = client.__dict__.setdefault("kept_settings", {})
        self.asked: list[str] = []
        self.one_at_a_time = Lock()


class Answering(BaseHTTPRequestHandler):
    """Forwards a request to the client in memory, by the client's own models of requests and answers."""

    def answer(self) -> None:
        """Answer one request; a server that has answered as many as it should drops the connection."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        with self.server.one_at_a_time:
            if self.server.left == 0:
                self.close_connection = True
                return
            if self.server.left is not None:
                self.server.left -= 1
            if self.server.key is not None and self.headers.get("api-key") != self.server.key:
                self.say(401, b"Must provide an API key or an Authorization bearer token")
                return
            path = self.path.partition("?")[0]
            self.server.asked.append(f"{self.command} {path}")
            try:
                result = self.result(path, json.loads(body) if body else {})
            except (ValueError, KeyError) as error:
                status = 404 if "not found" in str(error) else 400
                self.say(status, json.dumps({"status": {"error": str(error)}, "time": 0.0}).encode())
                return
            self.say(200, json.dumps({"result": result, "status": "ok", "time": 0.0}).encode())

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815  # by these names they are called

    def result(self, path: str, body: dict) -> object:
        """What the client in memory makes of a request."""
        if path == "/":
            return {"title": "qdrant", "version": version("qdrant-client")}
        matched = re.fullmatch(r"/collections/([^/]+)(/.*)?", path)
        work = ANSWERS.get((self.command, matched[2] or "")) if matched is not None else None
        if work is None:
            raise ValueError(f"{self.command} {path} not found")
        return work(self.server, matched[1], body)

    def say(self, status: int, content: bytes) -> None:
        """Send an answer."""
        self.send_response(status)
        self.send_header("content-type", "application/json" if content.startswith(b"{") else "text/plain")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Be quiet."""


def get_collection(server: QdrantServer, name: str, _: dict) -> object:
    """What a collection is, with the settings that it was made with."""
    info = plain(server.client.get_collection(name))
    for part, given in server.settings.get(name, {}).items():
        if given:
            info["config"][part] = (info["config"].get(part) or {}) | given
    return info


def create_collection(server: QdrantServer, name: str, body: dict) -> object:
    """Make a collection, and keep the settings that the implementation in memory does not have."""
    asked = models.CreateCollection.model_validate(body)
    server.settings[name] = {part: body.get(part) for part in KEPT}
    return server.client.create_collection(name, vectors_config=asked.vectors, metadata=asked.metadata)


def upsert(server: QdrantServer, name: str, body: dict) -> object:
    """Add points, one by one or as a batch."""
    asked = read(models.PointInsertOperations, body)
    return plain(server.client.upsert(name, getattr(asked, "batch", None) or asked.points))


def scroll(server: QdrantServer, name: str, body: dict) -> object:
    """Read some points, and say where the next begin."""
    asked = read(models.ScrollRequest, body)
    what = {"with_payload": asked.with_payload, "with_vectors": asked.with_vector}
    records, following = server.client.scroll(name, limit=asked.limit, offset=asked.offset, **what)
    return {"points": plain(records), "next_page_offset": following}


def query_batch(server: QdrantServer, name: str, body: dict) -> object:
    """Ask several questions."""
    return plain(server.client.query_batch_points(name, read(models.QueryRequestBatch, body).searches))


ANSWERS = {
    ("GET", "/exists"): lambda server, name, _: {"exists": server.client.collection_exists(name)},
    ("GET", ""): get_collection,
    ("PUT", ""): create_collection,
    ("PATCH", ""): lambda server, name, body: server.client.update_collection(name, metadata=body["metadata"]),
    ("DELETE", ""): lambda server, name, _: server.client.delete_collection(name),
    ("PUT", "/points"): upsert,
    ("POST", "/points/delete"): lambda server, name, body: plain(
        server.client.delete(name, read(models.PointsSelector, body))
    ),
    ("POST", "/points/count"): lambda server, name, body: plain(server.client.count(name, exact=body["exact"])),
    ("POST", "/points/scroll"): scroll,
    ("POST", "/points/query"): lambda server, name, body: query_batch(server, name, {"searches": [body]})[0],
    ("POST", "/points/query/batch"): query_batch,
}


@contextmanager
def running_qdrant(client: QdrantClient, **options: object) -> Iterator[QdrantServer]:
    """A server that answers until the end of the block."""
    server = QdrantServer(client, **options)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def read(kind: object, body: dict) -> object:
    """A body as the client's own model of it."""
    return TypeAdapter(kind).validate_python(body)


def plain(model: object) -> object:
    """An answer of the client as plain values for JSON."""
    if isinstance(model, list):
        return [plain(part) for part in model]
    return model.model_dump(mode="json", exclude_none=True)
