"""Vespa: what to set, from its documentation; it was not tried.

``closeness`` is what ranks: https://docs.vespa.ai/en/reference/schemas/schemas.html#distance-metric
"""

from __future__ import annotations

from types import MappingProxyType

from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric, MetricFacts

VESPA = Engine(
    name="Vespa",
    metrics=MappingProxyType(
        {
            Metric.COSINE: MetricFacts(
                "distance-metric: angular in the attribute of the tensor", score="closeness = 1 / (1 + arccos(cosine))"
            ),
            Metric.INNER_PRODUCT: MetricFacts(
                "distance-metric: dotproduct in the attribute of the tensor", score="closeness = dot, distance = -dot"
            ),
            Metric.EUCLIDEAN: MetricFacts(
                "distance-metric: euclidean in the attribute of the tensor", score="closeness = 1 / (1 + distance)"
            ),
        }
    ),
    notes=(
        "A tensor ranks by distance (euclidean) where nobody says otherwise.",
        "For dotproduct its graph adds a coordinate that makes all vectors as long as the longest that it has seen.",
    ),
    tested=False,
)
