"""Weaviate: what to set, from its documentation; it was not tried.

Cosine normalises as vectors are read: https://docs.weaviate.io/weaviate/config-refs/distances
"""

from __future__ import annotations

from types import MappingProxyType

from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric, MetricFacts, ScoreFormula

WEAVIATE = Engine(
    name="Weaviate",
    metrics=MappingProxyType(
        {
            Metric.COSINE: MetricFacts('vectorIndexConfig with "distance": "cosine"', ScoreFormula(-1, 1.0)),
            Metric.INNER_PRODUCT: MetricFacts('vectorIndexConfig with "distance": "dot"', ScoreFormula(-1)),
            Metric.EUCLIDEAN: MetricFacts(
                'vectorIndexConfig with "distance": "l2-squared"', ScoreFormula(squared=True)
            ),
        }
    ),
    notes=("A collection ranks by cosine where nobody says otherwise.",),
    tested=False,
)
