"""Elasticsearch: what to set, from its documentation; it was not tried.

Scores are made positive there: https://www.elastic.co/docs/reference/elasticsearch/mapping-reference/dense-vector
"""

from __future__ import annotations

from types import MappingProxyType

from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric, MetricFacts

LARGEST_K = 10_000
SHIFTED_DOT = "score = 1 + dot where dot >= 0, else 1 / (1 - dot)"

ELASTICSEARCH = Engine(
    name="Elasticsearch",
    metrics=MappingProxyType(
        {
            Metric.COSINE: MetricFacts('dense_vector with "similarity": "cosine"', score="score = (1 + cosine) / 2"),
            Metric.INNER_PRODUCT: MetricFacts(
                'dense_vector with "similarity": "max_inner_product" ("dot_product" wants unit vectors)',
                score=SHIFTED_DOT,
            ),
            Metric.EUCLIDEAN: MetricFacts(
                'dense_vector with "similarity": "l2_norm"', score="score = 1 / (1 + distance^2)"
            ),
        }
    ),
    notes=(
        (
            "From 384 dimensions on it stores one bit a number (bbq_hnsw), below them eight (int8_hnsw), unless "
            '"index_options" say {"type": "hnsw"}.'
        ),
        f"A query gets {LARGEST_K:,} documents (k, num_candidates) at most.",
    ),
    largest_k=LARGEST_K,
    tested=False,
)
