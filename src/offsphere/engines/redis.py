"""Redis with its search module: what to set, from its documentation; it was not tried.

https://redis.io/docs/latest/develop/ai/search-and-query/vectors/ has the words. It calls L2 the distance; the library
that computes it, https://github.com/RedisAI/VectorSimilarity (spaces/L2/L2.cpp), returns the square, and so does Redis.
"""

from __future__ import annotations

from types import MappingProxyType

from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric, MetricFacts, ScoreFormula

REDIS = Engine(
    name="Redis",
    metrics=MappingProxyType(
        {
            Metric.COSINE: MetricFacts("FT.CREATE ... VECTOR HNSW ... DISTANCE_METRIC COSINE", ScoreFormula(-1, 1.0)),
            Metric.INNER_PRODUCT: MetricFacts(
                "FT.CREATE ... VECTOR HNSW ... DISTANCE_METRIC IP", ScoreFormula(-1, 1.0)
            ),
            Metric.EUCLIDEAN: MetricFacts(
                "FT.CREATE ... VECTOR HNSW ... DISTANCE_METRIC L2",
                ScoreFormula(squared=True),
            ),
        }
    ),
    notes=("It looks at 10 candidates (EF_RUNTIME) where nobody says otherwise.",),
    tested=False,
)
