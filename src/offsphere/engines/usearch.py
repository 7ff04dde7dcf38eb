"""usearch, a library for indices in memory: what to set for each metric."""

from __future__ import annotations

from offsphere.engines.engine import Engine, MetricWords

USEARCH = Engine(
    name="usearch",
    words=MetricWords(
        cosine='Index(ndim=d, metric="cos")',
        inner_product='Index(ndim=d, metric="ip")',
        euclidean='Index(ndim=d, metric="l2sq")',
    ),
)
