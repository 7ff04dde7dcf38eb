"""What pages of questions say in numbers stands in a block that a command printed, on the same page."""

from __future__ import annotations

import re

import pytest

from tests.processes import ROOT

PAGES = sorted(page for page in (ROOT / "docs" / "questions").glob("*.md") if page.name != "README.md")
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
NO_PROSE = re.compile(r"<!--.*?-->|`[^`]*`|\]\([^)]*\)|\([^()]*arXiv:[^()]*\)|arXiv:[\d.]+", re.DOTALL)
NUMBER = re.compile(r"(?<![\w./:,-])[-+±]?(?:\d{1,3}(?:,\d{3})+|\d*\.\d+|\d+)(?: ?%)?(?![\w/:-]|[.,]\d)")
SMALL = 20  # whole numbers up to here count things in a sentence
# what no command prints: a definition, a goal, a title, or what a paper says
KNOWN = {
    "does-magnitude-mean-anything": {"0.2"},  # Cohen's small effect
    "hnsw-loses-my-results": {"95 %"},  # the goal of an export, unless it is told another
    "is-a-hundredth-chance": {"+.01", ".01"},  # the question
    "where-to-cut": {".7", ".8"},  # what blogs say
    "why-do-unrelated-texts-score-high": {".7", "0.7", "0.01"},  # the question; the card of E5
}


def number_of(written):
    """The value, and with how many places after the point it is written."""
    digits = written.lstrip("+±").rstrip("% ").replace(",", "")
    return float(digits), len(digits.partition(".")[2])


def printed_on(page):
    text = page.read_text("utf-8")
    return [number_of(number)[0] for block in FENCED.findall(text) for number in re.findall(r"-?[\d,]*\.?\d+", block)]


def told_on(page):
    prose = NO_PROSE.sub(" ", FENCED.sub(" ", page.read_text("utf-8")))
    for written in NUMBER.findall(prose):
        counts = written.isdigit() and (int(written) <= SMALL or re.fullmatch("19..|20..", written))
        if not counts and written not in KNOWN.get(page.stem, ()):
            yield written


def rests_on(written, printed):
    """Whether a printed number, as a share of a hundred too where that is asked, is this one when it is rounded so."""
    value, places = number_of(written)
    scales = (1, 100) if "%" in written else (1,)
    return any(abs(abs(number) * scale - abs(value)) <= 0.5001 * 10**-places for number in printed for scale in scales)


def half_an_interval():
    """Of the difference on the page of a hundredth: what its rules of thumb begin with, by the root of the queries."""
    page = ROOT / "docs" / "questions" / "is-a-hundredth-chance.md"
    low, high = re.search(
        r"^whiten\S* .*?([-+][\d.]+) ([-+][\d.]+)  [\d.]+$", page.read_text("utf-8"), re.MULTILINE
    ).groups()
    return (float(high) - float(low)) / 2


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_number_in_the_text_was_printed_on_the_page(page):
    printed = printed_on(page)
    derived = ["±.012", "±.026", "±.006", "50", "1,000"] if page.stem == "is-a-hundredth-chance" else []
    assert [number for number in told_on(page) if number not in derived and not rests_on(number, printed)] == []


@pytest.mark.parametrize(("queries", "told"), [(225, ".012"), (50, ".026"), (1_000, ".006")])
def test_rules_of_thumb_follow_from_the_interval_that_was_printed(queries, told):
    text = (ROOT / "docs" / "questions" / "is-a-hundredth-chance.md").read_text("utf-8")
    assert f"±{told}" in text
    assert round(half_an_interval() * (225 / queries) ** 0.5, 3) == float(told)


def test_a_number_that_was_not_printed_is_seen(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("It is 0.3 % or -0.0089, on 225.\n\n```\n$ run\nx  -0.0095 +0.0150 225\n```\n")
    printed = printed_on(page)
    assert [number for number in told_on(page) if not rests_on(number, printed)] == ["0.3 %", "-0.0089"]
