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
    assert sentence.startswith("Today's lengths hold what a document alone can tell")
    assert "It is a prior" in sentence


def test_where_length_is_not_popularity_one_is_told_to_train_for_it():
    advice, sentence = ceiling_sentence(*popular(lengths="apart"))
    assert "dot" not in advice.name
    assert sentence.startswith("There is something to be had from the documents alone")
    assert "Train for it, or use a bias. It is a prior" in sentence


def test_hubs_are_said_to_be_a_correction():
    _, sentence = ceiling_sentence(*known_items(hubs=12))
    assert "It is a correction: some documents are near to queries of every kind." in sentence
    assert "no popularity can be learned" in sentence


def test_known_items_without_either_are_not_worth_looking_at():
    _, sentence = ceiling_sentence(*known_items())
    assert sentence.startswith("Stop looking for something about the documents alone")


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
