"""OpenSearch: what to set, from its documentation; it was not tried.

Scores are made positive there: https://docs.opensearch.org/latest/mappings/supported-field-types/knn-spaces/
"""

from __future__ import annotations

from types import MappingProxyType

from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric, MetricFacts

LARGEST_K = 10_000

OPENSEARCH = Engine(
    name="OpenSearch",
    metrics=MappingProxyType(
        {
            Metric.COSINE: MetricFacts('knn_vector with "space_type": "cosinesimil"', score="score = (1 + cosine) / 2"),
            Metric.INNER_PRODUCT: MetricFacts(
                'knn_vector with "space_type": "innerproduct"',
                score="score = 1 + dot where dot > 0, else 1 / (1 - dot)",
            ),
            Metric.EUCLIDEAN: MetricFacts('knn_vector with "space_type": "l2"', score="score = 1 / (1 + distance^2)"),
        }
    ),
    notes=(
        "A collection ranks by distance (l2) where nobody says otherwise.",
        f"A query gets {LARGEST_K:,} documents (k) at most.",
    ),
    largest_k=LARGEST_K,
    tested=False,
)
