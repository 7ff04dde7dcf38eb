"""A real embedding server behind a proxy that breaks things: nothing is lost, and nothing answered is paid twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import offsphere as osp
from offsphere.encode import served
from offsphere.encode.served import SAMPLE, ServedEncoder
from offsphere.encode.served_name import ServedName
from tests.processes import PATIENCE, ROOT, environment_with

BATCH, PAIRS = 2, 10  # texts in a request, so that few texts take many
SENTENCES = ["Cats sit on mats.", "Interest rates rose.", "Wings flutter.", "Rain fell in May."]
LEFT = [f"{SENTENCES[row % 4]} Number {row}." for row in range(PAIRS)]
RIGHT = [f"{row} times: {SENTENCES[row % 4].lower()}" for row in range(PAIRS)]
FAULTS = ("busy", "broken", "overloaded", "cut off", "too few", "not a number")


class Proxy:
    """What stands before the server: it passes requests on, breaks those it is told to, and keeps an account.

    Attributes:
        asked: The texts of every request.
        answered: The texts of every request that was answered whole.
    """

    def __init__(self, upstream, faults=(), whole=None):
        self.upstream, self.faults, self.whole = upstream, list(faults), whole
        self.asked, self.answered = [], []
        self.lock, self.released = threading.Lock(), threading.Event()

    def respond(self, body):
        """Status, headers and body of a response, and how many bytes of it are sent."""
        texts = json.loads(body)["input"]
        with self.lock:
            self.asked.append(texts)
            probe = texts == [SAMPLE]
            fault = self.faults.pop(0) if self.faults and not probe else None
            held = self.whole is not None and not probe and len(self.paid()) >= self.whole
            if fault is None and not held:
                self.answered.append(texts)
        if held:
            self.released.wait(PATIENCE)
            return 503, {}, b"", 0
        match fault:
            case "busy":
                return 429, {"Retry-After": "0.01"}, b"slow down", 9
            case "broken":
                return 500, {}, b"", 0
            case "overloaded":
                return 529, {}, b"", 0
        request = urllib.request.Request(f"{self.upstream}/embeddings", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            body = response.read()
        return 200, {}, *spoilt(body, fault)

    def paid(self):
        """The batches that were answered whole, but for the word that every encoder asks at its start."""
        return [texts for texts in self.answered if texts != [SAMPLE]]


def spoilt(body, fault):
    """What is left of a response, and how many of its bytes are sent."""
    content = json.loads(body)
    if fault == "too few":
        content["data"] = content["data"][:-1]
    if fault == "not a number":
        content["data"][-1]["embedding"][7] = float("nan")
    spoilt_body = json.dumps(content).encode()
    return spoilt_body, len(spoilt_body) // 2 if fault == "cut off" else len(spoilt_body)


@contextmanager
def before(real_api, faults=(), whole=None):
    """A proxy before the server, and the name of the model behind it."""
    address, _, model = real_api.partition("#")
    proxy = Proxy(address, faults, whole)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            status, headers, body, sent = proxy.respond(self.rfile.read(int(self.headers["Content-Length"])))
            self.close_connection = True
            try:
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body[:sent])
            except OSError:
                pass  # whoever asked was killed

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1#{model}", proxy
    finally:
        proxy.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(served, "BATCH", BATCH)


@pytest.fixture(scope="module")
def without_faults(real_api, tmp_path_factory):
    """The vectors of both sides as the server gives them, asked directly."""
    folder = tmp_path_factory.mktemp("plain")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(folder))
        patched.setattr(served, "BATCH", BATCH)
        return osp.embed(task(), ServedEncoder(ServedName.of(real_api)), folder / "store")


def task():
    return osp.PairTask("faults", np.arange(float(PAIRS)), LEFT, RIGHT)


def assert_the_same(vectors, expected):
    for side, rows in zip(vectors.sides, expected.sides, strict=True):
        np.testing.assert_allclose(side[:], rows[:], rtol=1e-3, atol=1e-4)


def times_paid(proxy):
    """How often each batch was answered whole."""
    return Counter(tuple(texts) for texts in proxy.paid())


def test_faults_change_no_vector_and_no_text_that_was_answered_is_asked_again(real_api, without_faults, tmp_path):
    with before(real_api, faults=FAULTS) as (name, proxy):
        encoder = ServedEncoder(ServedName.of(name), pause=0.0)
        vectors = osp.embed(task(), encoder, tmp_path / "store")
    assert_the_same(vectors, without_faults)
    assert proxy.faults == []
    assert set(times_paid(proxy).values()) == {1}
    asked = [texts for texts in proxy.asked if texts != [SAMPLE]]
    assert len(asked) == len(proxy.paid()) + len(FAULTS)  # each fault costs one request more


@pytest.mark.parametrize(
    "fault", ["cut off", *(pytest.param(fault, marks=pytest.mark.slow) for fault in ("broken", "not a number"))]
)
def test_a_run_that_gives_up_is_repeated_and_asks_only_for_what_is_missing(real_api, without_faults, tmp_path, fault):
    """Two requests are answered, then one fails until the run gives up; the second run has no fault."""
    with before(real_api, faults=[None, None, *[fault] * 100]) as (name, proxy):
        with pytest.raises(osp.OffsphereError):
            osp.embed(task(), ServedEncoder(ServedName.of(name), pause=0.0, retries=2, workers=2), tmp_path / "store")
        paid = times_paid(proxy)
        proxy.faults.clear()
        vectors = osp.embed(task(), ServedEncoder(ServedName.of(name), pause=0.0), tmp_path / "store")
    assert_the_same(vectors, without_faults)
    assert len(paid) == 2
    assert set(times_paid(proxy).values()) == {1}  # over both runs


RUN = f"from offsphere.encode import served; served.BATCH = {BATCH}; from offsphere.cli import main; main()"


def test_an_embed_that_is_killed_goes_on_and_pays_for_nothing_twice(real_api, without_faults, tmp_path):
    rows = [f"1,{left},{right}" for left, right in zip(LEFT, RIGHT, strict=True)]
    (tmp_path / "faults.csv").write_text("\n".join(["score,sentence1,sentence2", *rows, "2,one,two", "3,a,b"]))
    with before(real_api, whole=3) as (name, proxy):
        command = ["embed", str(tmp_path / "faults.csv"), "--model", name, "--out", str(tmp_path / "store")]
        arguments = [sys.executable, "-c", RUN, *command]
        environment = environment_with(ROOT) | {"XDG_CACHE_HOME": os.environ["XDG_CACHE_HOME"]}
        with subprocess.Popen(arguments, env=environment, stderr=subprocess.DEVNULL) as killed:
            kept = tmp_path / "cache" / "offsphere" / served.FOLDER
            deadline = time.monotonic() + PATIENCE
            while len(list(kept.glob("batch-*.npz"))) < 3 and time.monotonic() < deadline:
                assert killed.poll() is None, "it ended before it was killed"
                time.sleep(0.05)
            killed.kill()
        assert len(proxy.paid()) == 3
        proxy.whole = None
        proxy.released.set()
        subprocess.run(arguments, env=environment, check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    vectors = osp.load_vectors(tmp_path / "store", osp.load_task(tmp_path / "faults.csv"))
    for side, expected in zip(vectors.sides, without_faults.sides, strict=True):
        np.testing.assert_allclose(side[:PAIRS], expected[:], rtol=1e-3, atol=1e-4)
    assert set(times_paid(proxy).values()) == {1}
