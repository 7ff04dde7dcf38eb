"""usearch: a graph as a file, its ids beside it."""

from __future__ import annotations

from types import MappingProxyType

from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric, MetricFacts, Returned

USEARCH = Engine(
    name="usearch",
    metrics=MappingProxyType(
        {
            Metric.COSINE: MetricFacts('Index(ndim=..., metric="cos")', Returned(-1, 1.0)),
            Metric.INNER_PRODUCT: MetricFacts('Index(ndim=..., metric="ip")', Returned(-1, 1.0)),
            Metric.EUCLIDEAN: MetricFacts('Index(ndim=..., metric="l2sq")', Returned(squared=True)),
        }
    ),
)
