"""The engines we know.

The imports between the two marks are the registry: to add an engine, write its file and import it there.
"""

# ruff: noqa: PLC0414  # an import as itself is a line of the registry

from __future__ import annotations

import re

from offsphere.base.errors import UnknownNameError
from offsphere.base.passwords import hide_password
from offsphere.engines.engine import Engine
from offsphere.engines.target import Target

# in the order in which a user is told of them
# isort: off
from offsphere.engines.faiss import FAISS as FAISS
from offsphere.engines.qdrant import QDRANT as QDRANT
from offsphere.engines.qdrant_edge import QDRANT_EDGE as QDRANT_EDGE
from offsphere.engines.chroma import CHROMA as CHROMA
from offsphere.engines.milvus import MILVUS as MILVUS
from offsphere.engines.postgres import POSTGRES as POSTGRES
from offsphere.engines.lancedb import LANCEDB as LANCEDB
from offsphere.engines.duckdb import DUCKDB as DUCKDB
from offsphere.engines.sqlite import SQLITE as SQLITE
from offsphere.engines.usearch import USEARCH as USEARCH
from offsphere.engines.hnswlib import HNSWLIB as HNSWLIB
from offsphere.engines.elasticsearch import ELASTICSEARCH as ELASTICSEARCH
from offsphere.engines.opensearch import OPENSEARCH as OPENSEARCH
from offsphere.engines.weaviate import WEAVIATE as WEAVIATE
from offsphere.engines.vespa import VESPA as VESPA
from offsphere.engines.redis import REDIS as REDIS
# isort: on

ENGINES: tuple[Engine, ...] = tuple(engine for engine in tuple(vars().values()) if isinstance(engine, Engine))


def engine_of(text: str) -> tuple[Engine, Target]:
    """Read a target: its engine, and where in it.

    Raises:
        UnknownNameError: No engine has that prefix, or it is one that we only know the settings of.
        OffsphereError: A part of the target is missing.
    """
    by_prefix = {engine.prefix: engine for engine in ENGINES if engine.open is not None}
    prefix, colon, _ = text.partition(":")
    named = bool(colon) and re.fullmatch(r"[\w-]+", prefix) is not None  # a path has more than a word before its colon
    for engine in by_prefix.values():
        if engine.suffix and text.endswith(engine.suffix) and not named:
            return engine, Target(engine.prefix, text, "")
    if prefix not in by_prefix:
        raise UnknownNameError("engine", hide_password(prefix), list(by_prefix))
    return by_prefix[prefix], Target.of(text, named=by_prefix[prefix].named)
