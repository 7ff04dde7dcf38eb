"""Embedding APIs: a real server with a real model, and a loopback server that is busy, breaks off, talks nonsense."""

from __future__ import annotations

import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.endpoint import MOST_BYTES
from offsphere.base.errors import OffsphereError, ParameterError
from offsphere.encode import served
from offsphere.encode.served import BATCH, ServedEncoder
from offsphere.encode.served_name import ServedName
from tests.processes import PATIENCE, ROOT


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("OFFSPHERE_EMBEDDING_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def vector_of(text, width=6):
    """What the loopback server makes of a text: any numbers that only the text decides."""
    rng = np.random.default_rng(list(text.encode()) or [0])
    return (rng.normal(size=width) * (1 + len(text))).round(4).tolist()


def answer(asked, vector=vector_of):
    entries = [{"index": number, "embedding": vector(text)} for number, text in enumerate(asked["input"])]
    return 200, json.dumps({"model": "toy-1", "data": entries[::-1]}).encode()  # in an order of its own


@contextmanager
def api(respond, model="toy"):
    """A server that answers with what ``respond(number, asked)`` gives: status, body and perhaps when to come again.

    Where it gives nothing, the server breaks off.
    """
    seen, lock = [], threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked["key"], asked["path"] = self.headers.get("Authorization"), self.path
            with lock:
                number = len(seen)
                seen.append(asked)
            status, body, *after = respond(number, asked) or (200, None)
            self.send_response(status)
            self.send_header("Retry-After", after[0] if after else "0")
            self.send_header("Location", "http://127.0.0.1:9/elsewhere")
            self.send_header("Content-Length", str(len(body) if body is not None else 1_000))
            self.end_headers()
            self.wfile.write(body if body is not None else b'{"data": [')  # and then the connection is cut
            self.close_connection = True

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1#{model}", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


TEXTS = [f"text number {number} " + "word " * (number % 7) for number in range(300)]


def encoder_of(name, **options):
    return ServedEncoder(ServedName.of(name), **{"pause": 0.0, **options})


def test_vectors_come_in_the_order_of_their_texts_in_batches_several_at_a_time():
    together, most, gate = [0], [0], threading.Lock()
    met = threading.Barrier(4, timeout=PATIENCE)

    def respond(number, asked):
        with gate:
            together[0] += 1
            most[0] = max(most[0], together[0])
        if 0 < number <= 4:
            met.wait()  # four requests are under way at once, or this would never end
        with gate:
            together[0] -= 1
        return answer(asked)

    with api(respond) as (name, seen):
        encoder = encoder_of(name, workers=4)
        rows = encoder.encode(TEXTS, "document")
    assert np.allclose(rows, [vector_of(text) for text in TEXTS])
    assert [len(asked["input"]) for asked in seen[1:]] == [BATCH] * 4 + [300 - 4 * BATCH]
    assert most[0] >= 4
    assert {asked["path"] for asked in seen} == {"/v1/embeddings"}
    assert (encoder.description.dimension, encoder.description.revision) == (6, "served as toy-1")


NAN = json.dumps({"data": [{"index": n, "embedding": [float("nan")] * 6} for n in range(BATCH)]}).encode()


def indexed(index):
    """A response whose first vector has such an index, as it is written in JSON."""
    return b'{"data": [{"index": %s, "embedding": [1, 2, 3, 4, 5, 6]}]}' % index


FAULTS = {
    "busy": lambda asked: (429, b"slow down"),
    "broken": lambda asked: (500, b"oops"),
    "cut off": lambda asked: None,
    "too few": lambda asked: answer({"input": asked["input"][:-1]}),
    "not a number": lambda asked: (200, NAN),
    "no json": lambda asked: (200, b"<html>"),
    "a list": lambda asked: (200, b"[1, 2]"),
    "nested": lambda asked: (200, b"[" * 100_000),
    "half a character": lambda asked: (200, answer(asked)[1][:-1] + b', "model": "\\ud800"}'),
    "an infinite index": lambda asked: (200, indexed(b"1e999")),
    "a number beyond all floats": lambda asked: answer(asked, lambda text: [10**400] * 6),
    "later than ever": lambda asked: (503, b"wait", "²"),
    "ragged": lambda asked: answer(asked, lambda text: vector_of(text, 2 + len(text) % 3)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_goes_wrong_once_is_asked_again_and_ends_with_the_same_vectors(fault):
    def respond(number, asked):
        return FAULTS[fault](asked) if number in (1, 3) else answer(asked)

    with api(respond) as (name, seen):
        rows = encoder_of(name).encode(TEXTS, "document")
    assert np.allclose(rows, [vector_of(text) for text in TEXTS])
    assert len(seen) == 1 + 5 + 2


@pytest.mark.parametrize("fault", FAULTS)
def test_what_stays_wrong_is_one_line_and_what_was_answered_is_not_paid_for_again(fault, tmp_path):
    task = osp.PairTask("paid", np.arange(300.0), TEXTS, [f"{text} right" for text in TEXTS])
    broken = [True]

    def respond(number, asked):
        if broken[0] and any("number 250 " in text for text in asked["input"]):
            return FAULTS[fault](asked)
        return answer(asked)

    with api(respond) as (name, seen):
        with pytest.raises(OffsphereError) as caught:
            osp.embed(task, encoder_of(name, retries=1), tmp_path / "store")
        assert "\n" not in str(caught.value)
        assert name in str(caught.value)
        paid = [text for asked in seen[1:] for text in asked["input"]]
        broken[0] = False
        before = len(seen)
        vectors = osp.embed(task, encoder_of(name, retries=1), tmp_path / "store")
    again = [text for asked in seen[before + 1 :] for text in asked["input"]]
    assert np.allclose(vectors.left, [vector_of(text) for text in TEXTS])
    assert np.allclose(vectors.right, [vector_of(f"{text} right") for text in TEXTS])
    assert len(again) == len(set(again))
    answered_before = {text for text in paid if paid.count(text) == 1}
    assert answered_before  # others were answered beside the one that failed
    assert not answered_before & set(again)


def test_a_refusal_is_told_at_once_without_the_key(monkeypatch):
    monkeypatch.setenv("OFFSPHERE_EMBEDDING_KEY", "sk-secret-123")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    told = pytest.raises(OffsphereError, match=r"HTTP 401.*set its key in OFFSPHERE_EMBEDDING_KEY")
    with api(lambda number, asked: (401, b"no such key: sk-secret-123")) as (name, seen), told as caught:
        encoder_of(name)
    assert "secret" not in str(caught.value)
    assert len(seen) == 1
    assert seen[0]["key"] == "Bearer sk-secret-123"


def test_the_key_of_openai_goes_to_nobody_else_and_no_key_follows_elsewhere(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    with api(lambda number, asked: answer(asked)) as (name, seen):
        encoder_of(name)
    assert seen[0]["key"] is None
    assert ServedName.of("openai:small").keys == ("OFFSPHERE_EMBEDDING_KEY", "OPENAI_API_KEY")
    with api(lambda number, asked: (302, b"")) as (name, seen), pytest.raises(OffsphereError, match="HTTP 302"):
        encoder_of(name)


def test_a_key_that_is_not_set_is_told_before_anybody_is_asked():
    with pytest.raises(
        OffsphereError, match="openai:small needs a key: set it in OFFSPHERE_EMBEDDING_KEY or OPENAI_API_K"
    ):
        osp.load_encoder("openai:small")


def test_a_response_that_does_not_end_is_not_read_to_its_end():
    def respond(number, asked):
        status, body = answer(asked)
        return status, body + b" " * MOST_BYTES

    with api(respond) as (name, _), pytest.raises(OffsphereError, match="the response has more than 67,108,864 bytes"):
        encoder_of(name, retries=0)


def test_nobody_there_is_one_line():
    with pytest.raises(OffsphereError, match=r"http://127\.0\.0\.1:9/v1#m, the first request: .*refused"):
        encoder_of("http://127.0.0.1:9/v1#m", retries=1)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("openai:", "say which model"),
        ("http://localhost:8080/v1", "say which model"),
        ("http://localhost/v1#m?dimension=2", "unknown option 'dimension'"),
        ("openai:m?dimensions=many", "is no number of dimensions"),
        ("http://me:secret@localhost/v1#m", "give no password in an address"),
    ],
)
def test_a_name_that_is_none_is_said_before_anybody_is_asked(name, message):
    with pytest.raises(ParameterError, match=message) as caught:
        osp.load_encoder(name)
    assert "secret" not in str(caught.value)


def unit(text, width=6):
    row = np.array(vector_of(text, 6))
    return (row / np.linalg.norm(row))[:width].tolist()


def test_one_is_told_that_the_api_has_normalised():
    with api(lambda number, asked: answer(asked, unit)) as (name, _):
        encoder = encoder_of(name)
        encoder.encode(TEXTS[:20], "document")
        assert [note.partition(":")[0] for note in encoder.notes] == ["the API has normalised"]
    options = re.findall(r"--[\w-]+ (?:-1|'[^']+')", encoder.notes[0])
    assert len(options) == 2
    table = (ROOT / "docs" / "embedding.md").read_text("utf-8").partition("What keeps lengths")[2]
    assert all(f"`{option}`" in table for option in options)  # where each is known from stands in the guide
    assert all(server in table for server in ("TEI", "Ollama", "infinity", "OpenAI") if server in encoder.notes[0])
    with api(lambda number, asked: answer(asked)) as (name, _):
        encoder = encoder_of(name)
        encoder.encode(TEXTS[:20], "document")
        assert encoder.notes == []


def test_one_is_told_that_shortening_broke_the_length():
    def respond(number, asked):
        return answer(asked, lambda text: unit(text, asked.get("dimensions", 6)))

    with api(respond, "toy?dimensions=3") as (name, seen):
        encoder = encoder_of(name)
        rows = encoder.encode(TEXTS[:5], "document")
    assert rows.shape == (5, 3)
    assert [note.partition(" cut")[0] for note in encoder.notes] == ["dimensions=3"]
    assert [asked.get("dimensions") for asked in seen] == [3, None, 3]


def test_queries_and_documents_are_asked_with_their_types_and_a_model_that_wants_them_says_so():
    types = "voyage-3?query_type=query&document_type=document"
    with api(lambda number, asked: answer(asked), types) as (name, seen):
        encoder = encoder_of(name)
        encoder.encode(TEXTS[:2], "query")
        encoder.encode(TEXTS[:2], "document")
        assert [asked.get("input_type") for asked in seen[1:]] == ["query", "document"]
        assert encoder.prompt("query") != encoder.prompt("document")
        assert encoder.notes == []
    with api(lambda number, asked: answer(asked), "voyage-3") as (name, seen):
        assert "?query_type=query&document_type=document" in encoder_of(name).notes[0]


def test_the_command_tells_texts_tokens_and_cost_before_it_starts(tmp_path):
    from typer.testing import CliRunner

    from offsphere.cli import app

    (tmp_path / "stsb.csv").write_text(
        "score,sentence1,sentence2\n" + "\n".join(f"{n},left {n},right {n}" for n in range(5))
    )
    with api(lambda number, asked: answer(asked, unit)) as (name, _):
        asked = ["embed", str(tmp_path / "stsb.csv"), "--model", name, "--out", str(tmp_path / "out"), "--price", "2"]
        done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    assert "left-stsb: 5 texts for http" in done.stderr
    assert "tokens, which cost about" in done.stderr
    assert "warning: the API has normalised" in done.stderr
    assert (tmp_path / "out" / "left-stsb").is_dir()


def test_a_real_server_gives_the_same_vectors_whatever_the_batches(real_api, monkeypatch):
    encoder = osp.load_encoder(real_api)
    texts = ["The cat sits on the mat.", "A kitten rests on a rug.", "Interest rates rose again in May."]
    rows = encoder.encode(texts, "document")
    assert rows.shape == (3, encoder.description.dimension)
    assert np.isfinite(rows).all()
    monkeypatch.setattr(served, "BATCH", 1)
    alone = osp.load_encoder(real_api)
    alone._memo = type(alone._memo)(None)  # asked again, not remembered
    assert np.allclose(alone.encode(texts, "document"), rows, rtol=1e-3, atol=1e-4)
    (top,) = osp.search(rows[:1], rows[1:], "cosine", 2)
    assert top.documents[0].tolist() == [0, 1]
