"""Search engines, one a file: what to set in each so that it ranks as a scorer does, and vectors to it and back.

An engine a file: chroma, duckdb, elasticsearch, faiss, hnswlib, lancedb, milvus, opensearch, postgres, qdrant,
qdrant_edge, redis, sqlite, usearch, vespa, weaviate. ``registry.py`` lists them, ``engine.py`` and ``collection.py``
are their face, and what one needs besides begins with its name. Around them: an export (``exporting.py`` and what it
calls: serving, strategy, racing, filling, verification), a look at what is there (``looking.py``,
``collection_source.py``, ``deployment.py``), a trial (``probing.py``), and models that emit what is stored
(``folding.py``, ``model_folder.py``).
"""

from offsphere.engines.settings import Setting, engine_settings

__all__ = ["Setting", "engine_settings"]
