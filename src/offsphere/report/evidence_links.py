"""What stands behind a finding: the chart of the page that shows it, and the guide that explains it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from offsphere.report.figure import Figure
from offsphere.wording.finding import Finding


class Behind(NamedTuple):
    """Where to look, and where to read on.

    Attributes:
        charts: Names of figures, the best first; the first that the page has is linked.
        guide: The page of the guide, by its name in ``docs``.
    """

    charts: tuple[str, ...]
    guide: str


class EvidenceLink(NamedTuple):
    """A figure of this page, if there is one, and a page of the guide."""

    chart: str
    title: str
    guide: str


_BY_TOPIC: Mapping[str, Behind] = MappingProxyType(
    {
        "scorer": Behind(("forest",), "comparing"),
        "storing": Behind(("forest",), "comparing"),
        "lists": Behind(("forest",), "rows"),
        "length": Behind(("lengths",), "measuring"),
        "expectation": Behind(("sweep",), "comparing"),
        "ceiling": Behind(("ceiling",), "measuring"),
        "deployed": Behind(("forest",), "deployed"),
        "training": Behind(("sweep",), "learning"),
        "wrong": Behind(("forest",), "reading-the-report"),
    }
)
_BY_CLAIM: Mapping[str, Behind] = MappingProxyType(
    {
        "hubs": Behind(("hubs",), "measuring"),
        "rogue dimension": Behind(("dimensions",), "measuring"),
        "every length the same": Behind(("lengths",), "measuring"),
        "length discarded": Behind(("lengths",), "measuring"),
        "dot against cosine": Behind(("sweep", "forest"), "comparing"),
        "too few units": Behind(("differences", "forest"), "comparing"),
        "more units": Behind(("differences", "forest"), "comparing"),
        "bias costs": Behind(("forest",), "engines"),
    }
)


def evidence_link(finding: Finding, figures: Mapping[str, Figure]) -> EvidenceLink:
    """Find what stands behind a finding.

    Args:
        finding: What was found.
        figures: The figures that the page has, by name.

    Returns:
        The chart, empty where the page has none for it, and the guide.
    """
    behind = _BY_CLAIM.get(finding.claim) or _BY_TOPIC[finding.topic]
    chart = next((name for name in behind.charts if name in figures), "")
    return EvidenceLink(chart, figures[chart].title if chart else "", behind.guide)
