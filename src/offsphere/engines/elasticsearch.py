"""Elasticsearch: what to set for each metric."""

from __future__ import annotations

from offsphere.engines.engine import Engine, MetricWords

ELASTICSEARCH = Engine(
    name="Elasticsearch",
    words=MetricWords(
        cosine='dense_vector with "similarity": "cosine"',
        inner_product='dense_vector with "similarity": "max_inner_product" ("dot_product" wants unit vectors)',
        euclidean='dense_vector with "similarity": "l2_norm"',
    ),
)
