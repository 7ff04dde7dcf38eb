"""The engines we know.

The imports between the two marks are the registry: to add an engine, write its file and import it there.
"""

# ruff: noqa: PLC0414  # an import as itself is a line of the registry

from __future__ import annotations

from offsphere.engines.engine import Engine

# in the order in which a user is told of them
# isort: off
from offsphere.engines.faiss import FAISS as FAISS
from offsphere.engines.qdrant import QDRANT as QDRANT
from offsphere.engines.pgvector import PGVECTOR as PGVECTOR
from offsphere.engines.lancedb import LANCEDB as LANCEDB
from offsphere.engines.usearch import USEARCH as USEARCH
from offsphere.engines.elasticsearch import ELASTICSEARCH as ELASTICSEARCH
# isort: on

ENGINES: tuple[Engine, ...] = tuple(engine for engine in tuple(vars().values()) if isinstance(engine, Engine))
