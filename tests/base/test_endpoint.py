"""An endpoint that fails: what is tried again, how long one waits before, and what is not tried again."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from offsphere.base.endpoint import LONGEST_WAIT, EndpointFailedError, asked_again, post_json


class RecordingWait(threading.Event):
    """Whoever waits for it goes on at once, and how long the wait would have been is kept."""

    def __init__(self):
        super().__init__()
        self.waits = []

    def wait(self, timeout=None):
        self.waits.append(timeout)
        return False


@contextmanager
def refusing(*statuses, after=None):
    """A server that refuses with each of these in turn, and then gives an answer; and how often it was asked."""
    left, asked = list(statuses), []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(left.pop(0) if left else 200)
            if after is not None:
                self.send_header("Retry-After", after)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def ask(address, retries=6, pause=1.0):
    """What the endpoint gave, and the waits before it."""
    stop = RecordingWait()
    return asked_again(lambda: post_json(address, {}), retries, pause, stop), stop.waits


def test_the_pause_doubles_from_try_to_try():
    with refusing(503, 429, 500, 502, 504) as (address, asked):
        assert ask(address) == (b"ok", [1.0, 2.0, 4.0, 8.0, 16.0])
    assert len(asked) == 6


def test_no_pause_is_longer_than_the_longest():
    with refusing(*[429] * 6) as (address, _):
        assert ask(address, pause=10.0)[1] == [10.0, 20.0, 40.0, LONGEST_WAIT, LONGEST_WAIT, LONGEST_WAIT]


def test_the_endpoint_may_ask_for_a_longer_pause_and_for_none_that_is_shorter():
    with refusing(429, 429, 429, after="3") as (address, _):
        assert ask(address)[1] == [3.0, 3.0, 4.0]
    with refusing(429, after="2.5") as (address, _):
        assert ask(address)[1] == [2.5]
    with refusing(429, after="86400") as (address, _):
        assert ask(address)[1] == [LONGEST_WAIT]


@pytest.mark.parametrize("after", ["", "soon", "-5", "nan", "inf", "1e9", "²", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_a_pause_that_is_no_number_of_seconds_is_our_own(after):
    with refusing(429, after=after.encode().decode("latin-1")) as (address, _):
        assert ask(address)[1] == [1.0]


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524, 529, 599])
def test_what_may_go_better_in_a_moment_is_tried_again(status):
    with refusing(status) as (address, asked):
        assert ask(address)[0] == b"ok"
    assert len(asked) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 501, 505])
def test_what_stays_as_it_is_is_asked_once(status):
    with refusing(status) as (address, asked), pytest.raises(EndpointFailedError, match=f"HTTP {status}"):
        ask(address)
    assert len(asked) == 1


def test_the_last_failure_is_told_after_all_tries():
    with refusing(500, 500, 529) as (address, asked), pytest.raises(EndpointFailedError, match="HTTP 529"):
        ask(address, retries=2)
    assert len(asked) == 3


def test_whoever_is_stopped_asks_no_more():
    stop = RecordingWait()
    stop.set()
    with refusing(500) as (address, asked), pytest.raises(EndpointFailedError, match="HTTP 500"):
        asked_again(lambda: post_json(address, {}), 6, 1.0, stop)
    assert len(asked) == 1
