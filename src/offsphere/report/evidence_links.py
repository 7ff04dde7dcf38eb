"""What stands behind a finding: the chart of the page that shows it, and the guide that explains it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from offsphere.report.figure import Figure
from offsphere.wording.finding import Finding


class FindingGuide(NamedTuple):
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


_BY_TOPIC: Mapping[str, FindingGuide] = MappingProxyType(
    {
        "scorer": FindingGuide(("forest",), "comparing"),
        "storing": FindingGuide(("forest",), "comparing"),
        "lists": FindingGuide(("forest",), "rows"),
        "length": FindingGuide(("lengths",), "measuring"),
        "expectation": FindingGuide(("sweep",), "comparing"),
        "ceiling": FindingGuide(("ceiling",), "measuring"),
        "deployed": FindingGuide(("forest",), "deployed"),
        "training": FindingGuide(("sweep",), "learning"),
        "wrong": FindingGuide(("forest",), "reading-the-report"),
    }
)
_BY_CLAIM: Mapping[str, FindingGuide] = MappingProxyType(
    {
        "hubs": FindingGuide(("hubs",), "measuring"),
        "rogue dimension": FindingGuide(("dimensions",), "measuring"),
        "every length the same": FindingGuide(("lengths",), "measuring"),
        "length discarded": FindingGuide(("lengths",), "measuring"),
        "dot against cosine": FindingGuide(("sweep", "forest"), "comparing"),
        "too few units": FindingGuide(("differences", "forest"), "comparing"),
        "more units": FindingGuide(("differences", "forest"), "comparing"),
        "bias costs": FindingGuide(("forest",), "engines"),
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
