"""What an export imports and loads when it first searches, done at once: for a process that others are forked from.

No engine is asked: the threads of some do not survive a fork.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np

import offsphere as osp

for name in ("faiss", "hnswlib", "offsphere.engines.shipping.exporting", "usearch.index"):
    import_module(name)
osp.search(np.eye(20, dtype=np.float32), np.eye(20, dtype=np.float32), [osp.parse_scorer("dot")], 10)
