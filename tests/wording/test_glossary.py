"""The glossary: its page holds the same words, and each term is recognised in the sentences that use it."""

from __future__ import annotations

import re

import pytest

from offsphere.report.terms import MarkedTerms
from offsphere.wording.glossary import GLOSSARY, glossary_markdown
from tests.processes import ROOT


def test_the_page_of_the_guide_holds_the_same_words():
    assert (ROOT / "docs" / "glossary.md").read_text("utf-8") == glossary_markdown()


def test_terms_are_explained_in_a_sentence_or_two():
    for term in GLOSSARY:
        assert 1 <= len(re.findall(r"[.!?](?= [A-Z]|$)", term.meaning)) <= 3, term
        assert len(term.meaning) < 260, term
    assert len({term.name for term in GLOSSARY}) == len(GLOSSARY)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ndcg@10 changes", "nDCG"),
        ("a p = 0.01", "p"),
        ("very sure (p < 0.0001)", "p"),
        ("p", "p"),
        ("longer (d = -0.2)", "Cohen's d"),
        ("the 95 % interval", "95 % interval"),
        ("whiten(0.5) + polar(1, 1.5)", "whitening"),
        ("45 hubs", "hub"),
        ("cosine + csls", "CSLS"),
        ("cosine + nnn(0.75)", "NNN"),
        ("anisotropy", "isotropy"),
        ("by the dot product", "dot product"),
        ("on held-out queries", "held out"),
        ("corrected for 54 rows", "corrected"),
        ("300 queries (judged by a program, not by people)", "made judgments"),
        ("rises to 0.5, fairly sure (p = 0.01)", "how sure"),
        ("the smallest gain that matters, 0.01", "smallest gain that matters"),
        ("at equal text length", "text length"),
        ("Vector length hurts", "vector length"),
        ("mrr@10", "MRR"),
        ("recall@100", "recall"),
        ("It was chosen in 79 of 100 tries, and", "following the choice"),
        ("None is better: following the choice (dot)", "following the choice"),
        ("Spearman's correlation", "Spearman"),
    ],
)
def test_a_term_is_recognised_as_it_is_written(text, name):
    terms = MarkedTerms({})
    assert "<dfn" in terms(text)
    assert name in terms.used


@pytest.mark.parametrize("text", ["stop", "hubris", "cosines-like @dot", "adot", "d0 = 3", "top 10", "anecdote"])
def test_parts_of_words_are_no_terms(text):
    assert "dot</span>" not in MarkedTerms({})(text)
    assert "<dfn" not in MarkedTerms({})(text).replace("cosine", "")


def test_a_term_explains_itself_once_a_section():
    used = {}
    section = MarkedTerms(used)
    assert section("cosine and cosine").count("<dfn") == 1
    assert section("cosine again").count("<dfn") == 0
    assert MarkedTerms(used)("cosine in another section").count("<dfn") == 1
    assert list(used) == ["cosine"]


def test_nothing_in_a_text_becomes_markup():
    marked = MarkedTerms({})("<script>cosine</script> (p = 1 <b>)", "small")
    assert "<script>" not in marked
    assert "<b>" not in marked
    assert "&lt;script&gt;" in marked
    assert marked.count("<dfn") == 2


def test_numbers_in_brackets_are_small_and_names_of_scorers_are_not():
    marked = MarkedTerms({})("Use whiten(0.5) + x, +0.02 [+0.01, +0.03] (d = 1 [0, 2]) (no number)", "small")
    small = re.findall(r'<small class="numbers">(.*?)</small>', re.sub(r"<dfn.*?>(.*?)<span.*?</dfn>", r"\1", marked))
    assert small == ["[+0.01, +0.03]", "(d = 1 [0, 2])"]
