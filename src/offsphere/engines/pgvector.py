"""pgvector, vectors in PostgreSQL: what to set for each metric."""

from __future__ import annotations

from offsphere.engines.engine import Engine, MetricWords

PGVECTOR = Engine(
    name="pgvector",
    words=MetricWords(
        cosine="ORDER BY embedding <=> query, index with vector_cosine_ops",
        inner_product="ORDER BY embedding <#> query (the negative inner product), index with vector_ip_ops",
        euclidean="ORDER BY embedding <-> query, index with vector_l2_ops",
    ),
)
