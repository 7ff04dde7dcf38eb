"""Postgres with pgvector: a table with a column of vectors."""

from __future__ import annotations

from types import MappingProxyType

from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric, MetricFacts, Returned

POSTGRES = Engine(
    name="pgvector",
    metrics=MappingProxyType(
        {
            Metric.COSINE: MetricFacts("ORDER BY embedding <=> query, index with vector_cosine_ops", Returned(-1, 1.0)),
            Metric.INNER_PRODUCT: MetricFacts(
                "ORDER BY embedding <#> query (the negative inner product), index with vector_ip_ops", Returned(-1)
            ),
            Metric.EUCLIDEAN: MetricFacts("ORDER BY embedding <-> query, index with vector_l2_ops", Returned()),
        }
    ),
)
