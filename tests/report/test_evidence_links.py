"""Behind every sentence of a report stands a section of the guide, in the page and as the guide has it."""

from __future__ import annotations

import re
import tomllib
from email.message import Message
from typing import get_args

import pytest

from offsphere.report import evidence_links, guide_sections
from offsphere.report.evidence_links import EvidenceLinks
from offsphere.report.guide_sections import guide_markup, guide_section
from offsphere.wording.claims_in_words import WORDS
from offsphere.wording.finding import Finding, Topic
from tests.processes import ROOT
from tests.test_docs import anchors

LINKS = EvidenceLinks({})
BEHIND = sorted(
    {
        *(behind.guide for behind in evidence_links._BY_PART.values()),
        *(behind.guide for behind in evidence_links._BY_CLAIM.values()),
        *(behind.guide for behind in evidence_links._BY_TOPIC.values()),
    }
)


def test_every_topic_and_claim_has_a_section_behind_it():
    for topic in get_args(Topic):
        for claim in WORDS:
            section = LINKS.of(Finding(topic=topic, claim=claim, numbers={})).section
            assert (ROOT / section.page).is_file()


@pytest.mark.parametrize("name", BEHIND)
def test_a_section_is_one_of_the_guide_and_can_be_read_alone(name):
    page, _, anchor = name.partition("#")
    assert anchor in anchors(ROOT / "docs" / f"{page}.md")
    markup = guide_markup(name)
    assert len(re.sub(r"<[^>]+>", "", markup)) > 150
    assert "<a" not in markup
    assert "](" not in markup
    assert "output:" not in markup
    assert not markup.rstrip().endswith(":</p>")  # nothing is announced that does not follow


def test_the_wheel_packs_the_pages_that_sections_are_taken_from():
    built = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    pages = {name.partition("#")[0] for name in BEHIND}
    assert built["force-include"] == {f"docs/{page}.md": f"offsphere/report/guide/{page}.md" for page in pages}


def test_what_is_packed_is_taken_before_a_checkout(monkeypatch, tmp_path):
    (tmp_path / "report" / guide_sections.PACKED).mkdir(parents=True)
    (tmp_path / "report" / guide_sections.PACKED / "packed.md").write_text("# Packed\n\n## Here\n\nIt says so.\n")
    monkeypatch.setattr(guide_sections, "files", lambda package: tmp_path / package.rpartition(".")[2])
    assert guide_section("packed#here").title == "Here"
    assert guide_markup("packed#here") == "<p>It says so.</p>\n"


def test_a_section_has_an_address_where_the_package_names_its_documentation(monkeypatch):
    assert guide_section("measuring#hubness").address == ""
    monkeypatch.setattr(guide_sections, "metadata", lambda name: documented())
    assert guide_section("measuring#hubness").address == "https://docs.example.org/offsphere/measuring.html#hubness"


def documented():
    """What a package says of itself that has a site."""
    named = Message()
    named["Project-URL"] = "Source, https://code.example.org/offsphere"
    named["Project-URL"] = "Documentation, https://docs.example.org/offsphere/"
    return named
