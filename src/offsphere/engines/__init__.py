"""Search engines, one a file: what to set in each so that it ranks as a scorer does, and vectors to it and back.

An engine a file: chroma, duckdb, elasticsearch, faiss, hnswlib, lancedb, milvus, opensearch, postgres, qdrant,
qdrant_edge, redis, sqlite, usearch, vespa, weaviate. ``registry.py`` lists them, ``engine.py`` and ``collection.py``
are their face, and what one needs besides begins with its name. In folders: an export (``shipping``), trials of what
an engine really does (``trials``), collections that exist already (``deployed``), models that emit what is stored
(``models``), and other people's files of vectors (``files``).
"""

from offsphere.engines.settings import Setting, engine_settings

__all__ = ["Setting", "engine_settings"]
