"""The glossary: its page holds the same words, and each term is recognised in the sentences that use it."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from offsphere.report.terms import MarkedTerms
from offsphere.statistics import metrics
from offsphere.wording.glossary import GLOSSARY, glossary_markdown
from offsphere.wording.metric_phrases import metric_meaning
from tests.auditing.cases import draw
from tests.processes import ROOT


def test_the_page_of_the_guide_holds_the_same_words():
    assert (ROOT / "docs" / "glossary.md").read_text("utf-8") == glossary_markdown()


def test_terms_are_explained_in_a_sentence_or_two():
    for term in GLOSSARY:
        assert 1 <= len(re.findall(r"[.!?](?= [A-Z]|$)", term.meaning)) <= 3, term
        assert len(term.meaning) < 260, term
    assert len({term.name for term in GLOSSARY}) == len(GLOSSARY)


def in_phrase(phrase):
    """A phrase of the glossary as an expression: any stretch of results stands where it is left open."""
    return re.escape(phrase).replace(re.escape("{first}"), r"the first (?:[\w,]+ )?results?")


PHRASES = [in_phrase(phrase) for term in GLOSSARY for phrase in term.phrases]


def test_a_meaning_has_the_words_that_sentences_put_in_brackets():
    for term in GLOSSARY:
        for phrase in term.phrases:
            assert re.search(in_phrase(phrase), term.meaning, re.IGNORECASE), (term.name, phrase)


def test_every_metric_is_explained_by_words_of_the_glossary():
    names = [f"{label}@{depth}" for label in [*metrics._RANKING, *metrics._POOLED] for depth in (1, 5, 10, 1000)]
    for name in [*names, *metrics._PAIRS]:
        assert any(re.fullmatch(phrase, metric_meaning(name)) for phrase in PHRASES), (name, metric_meaning(name))
        assert "<dfn" in MarkedTerms({})(name), name


BRACKETS = re.compile(r"(?<= )\(((?:[A-Za-z', -]|(?<=the first )[\d,]+)+)\)")  # what has other digits is measured
ADVICE = {"ef, or nprobe"}  # in brackets too, and no explanation: what to set


def test_every_explanation_in_brackets_is_one_of_the_glossary():
    explained = Counter()
    for seed in range(300):
        case = draw(seed)
        for finding in [*case.advice.findings, *case.table.findings]:
            for bracket in BRACKETS.findall(finding.sentence):
                if any(re.fullmatch(phrase, bracket) for phrase in PHRASES):
                    explained[bracket] += 1
                elif bracket not in ADVICE and " " in bracket:
                    assert any(re.fullmatch(form, bracket) for term in GLOSSARY for form in term.written_as), bracket
    assert explained["documents that come up whatever is asked"] > 0
    assert explained["judged by a program, not by people"] > 0
    assert len(explained) > 10


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
        ("answer-recall@5", "answer recall"),
        ("full-recall@10", "full recall"),
        ("(popularity)", "popularity"),
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
