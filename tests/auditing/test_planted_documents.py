"""Whole audits of tasks with something planted in the documents: what is recommended, and what is said of it."""

from __future__ import annotations

import pytest

import offsphere as osp
from tests.geometry.planted_documents import known_items, popular


def ceiling_sentence(task, vectors):
    audit = osp.audit(task, vectors, cache=False)
    return audit.advice, next(finding.sentence for finding in audit.advice.findings if finding.topic == "ceiling")


def test_where_length_is_popularity_the_dot_product_is_recommended_and_lengths_are_said_to_hold_it():
    advice, sentence = ceiling_sentence(*popular(lengths="product"))
    assert advice.name == "dot"
    assert sentence.startswith("Vector length serves as a boost per document")
    assert "What other queries want is wanted again" in sentence


def test_where_length_is_not_popularity_a_boost_is_said_to_gain_and_lengths_to_hold_nothing_of_it():
    advice, sentence = ceiling_sentence(*popular(lengths="apart"))
    assert "dot" not in advice.name
    assert sentence.startswith("A boost per document would gain")
    assert "What other queries want is wanted again" in sentence
    assert "Vector length holds nothing of it that one could see" in sentence


def test_hubs_are_said_to_be_a_correction():
    _, sentence = ceiling_sentence(*known_items(hubs=12))
    assert "Some documents are near to queries of every kind (hubs)." in sentence
    assert "Popularity cannot be learned here" in sentence


def test_known_items_without_either_are_not_worth_looking_at():
    _, sentence = ceiling_sentence(*known_items())
    assert sentence.startswith("Do not look for a boost per document")


@pytest.fixture
def grouped():
    from dataclasses import replace

    from offsphere.data.grouping import Grouping

    task, vectors = popular(queries=120)
    return replace(task, groups=[Grouping("type", ["a", "b", "b"] * 40)]), vectors


def test_groups_stand_in_the_audit_its_page_and_its_markdown(grouped):
    from offsphere.report import to_html, to_markdown

    audit = osp.audit(*grouped, by="type", cache=False)
    compared = osp.compare(*grouped, by="type")
    cells = {(cell.label, cell.scorer): cell for cell in audit.table.breakdown.cells}
    assert {label for label, _ in cells} == {"a", "b"}
    for cell in compared.breakdown.cells:
        assert cells[cell.label, cell.scorer] == cell
    assert audit.to_json()["comparison"]["breakdown"]["by"] == "type"
    page, text = to_html(audit), to_markdown(audit)
    assert '<figure id="groups">' in page
    assert "<h3>By type</h3>" in page
    shown = f"{cells['a', 'cosine'].value:.4f}"
    assert shown in page
    assert "## By type" in text
    assert f"| a | 40 | cosine | {shown} |" in text
