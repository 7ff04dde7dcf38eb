"""ranx run by Python itself, for a process that imports this before anything else.

Compiling the few functions of it that tests ask takes half a minute each, and no compiled one is kept from one process
to the next; nine queries are fused by the same lines, interpreted, in a millisecond.
"""

from __future__ import annotations

import os

os.environ["NUMBA_DISABLE_JIT"] = "1"

import ranx


def run_of(scores, name=None):
    """A run of ranx whose ids are plain strings, as they are in compiled ones; ranx sorts it."""
    run = ranx.Run(scores, name=name)
    run.run = {str(query): {str(document): float(score) for document, score in run[query].items()} for query in run.run}
    return run
