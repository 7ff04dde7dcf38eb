"""What stands behind a sentence: the chart of the page that shows it, and the section of the guide that explains it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from offsphere.report.figure import Figure
from offsphere.report.guide_sections import GuideSection, guide_section
from offsphere.wording.finding import Finding


class Behind(NamedTuple):
    """Where to look, and where to read on.

    Attributes:
        charts: Names of figures, the best first; the first that the page has is linked.
        guide: The section of the guide, as links between its pages have it.
    """

    charts: tuple[str, ...]
    guide: str


class EvidenceLink(NamedTuple):
    """A figure of this page, if there is one, and a section of the guide."""

    chart: str
    title: str
    section: GuideSection


_BY_TOPIC: Mapping[str, Behind] = MappingProxyType(
    {
        "scorer": Behind(("forest",), "comparing#what-the-choice-is-worth"),
        "storing": Behind(("forest",), "comparing#what-storing-costs"),
        "lists": Behind(("forest",), "rows#rows-of-lists"),
        "length": Behind(("lengths",), "measuring#relevance"),
        "expectation": Behind(("sweep",), "reading-the-report#the-verdict"),
        "ceiling": Behind(("ceiling",), "measuring#ceiling"),
        "deployed": Behind(("forest",), "deployed#what-the-lines-mean"),
        "training": Behind(("sweep",), "training#what-becomes-of-the-model"),
        "wrong": Behind(("sweep", "forest"), "measuring#dual"),
    }
)
_BY_CLAIM: Mapping[str, Behind] = MappingProxyType(
    {
        "hubs": Behind(("hubs",), "measuring#hubness"),
        "rogue dimension": Behind(("dimensions",), "measuring#dimensions"),
        "every length the same": Behind(("lengths",), "measuring#lengths"),
        "length discarded": Behind(("lengths",), "measuring#lengths"),
        "dot against cosine": Behind(("sweep", "forest"), "measuring#dual"),
        "too few units": Behind(("differences", "forest"), "comparing#the-smallest-gain-that-matters"),
        "more units": Behind(("differences", "forest"), "comparing#the-smallest-gain-that-matters"),
        "bias costs": Behind(("forest",), "scorers#scorers"),
    }
)
_BY_PART: Mapping[str, Behind] = MappingProxyType(
    {
        "learned": Behind(("learned",), "reading-the-report#what-learning-adds"),
        "ablation": Behind(("grid",), "learning#which-normalisation-the-grid"),
        "training": Behind(("train-cosines",), "training#what-becomes-of-the-model"),
        "relevance": Behind(("lengths",), "measuring#relevance"),
    }
)


@dataclass(frozen=True, slots=True)
class EvidenceLinks:
    """The links of one page, which remembers the sections of the guide that it must hold.

    Attributes:
        figures: The figures that the page has, by name.
        sections: The sections that were linked, by their names, in the order in which they come.
    """

    figures: Mapping[str, Figure]
    sections: dict[str, GuideSection] = field(default_factory=dict)

    def of(self, finding: Finding) -> EvidenceLink:
        """Find what stands behind a finding.

        Args:
            finding: What was found.

        Returns:
            The chart, empty where the page has none for it, and the section of the guide.
        """
        return self._link(_BY_CLAIM.get(finding.claim) or _BY_TOPIC[finding.topic])

    def of_part(self, part: str) -> EvidenceLink:
        """Find what stands behind sentences that are of no finding.

        Args:
            part: ``learned``, ``ablation``, ``training`` or ``relevance``.

        Returns:
            The chart, empty where the page has none for it, and the section of the guide.
        """
        return self._link(_BY_PART[part])

    def _link(self, behind: Behind) -> EvidenceLink:
        chart = next((name for name in behind.charts if name in self.figures), "")
        section = self.sections.setdefault(behind.guide, guide_section(behind.guide))
        return EvidenceLink(chart, self.figures[chart].title if chart else "", section)
