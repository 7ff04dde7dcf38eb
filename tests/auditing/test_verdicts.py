"""No sentence says what its numbers do not: thousands of planted cases, each read back by a checker that can object."""

from __future__ import annotations

from dataclasses import replace

import pytest

from offsphere.statistics.estimate import Estimate
from offsphere.wording.claims_in_words import WORDS
from tests.auditing.cases import draw
from tests.auditing.checker import complaints_of, complaints_on
from tests.auditing.mutations import LIES

CASES = 2_400
TOLD_LIES = 12  # cases of each claim whose numbers are changed behind its back


@pytest.fixture(scope="module")
def told():
    """Planted cases and the advice on each."""
    cases = [draw(seed) for seed in range(CASES)]
    return [(case, case.advice) for case in cases]


@pytest.fixture(scope="module")
def by_claim(told):
    """Of each claim some findings, with their case and advice."""
    findings = {}
    for case, advice in told:
        for finding in [*advice.findings, *case.table.findings]:
            some = findings.setdefault(finding.claim, [])
            if len(some) < TOLD_LIES:
                some.append((finding, case, advice))
    return findings


@pytest.mark.parametrize("part", range(4))
def test_no_sentence_says_what_its_numbers_do_not(told, part):
    objections = [objection for case, advice in told[part::4] for objection in complaints_of(case, advice)]
    assert not objections, "\n".join(objections[:10])


def test_every_claim_is_made_by_some_case_and_has_its_lies(by_claim):
    assert by_claim.keys() == WORDS.keys() == LIES.keys()


@pytest.mark.parametrize("claim", [claim for claim, lies in LIES.items() if lies])
def test_the_checker_objects_where_numbers_were_changed_behind_a_sentence(by_claim, claim):
    for number, lie in enumerate(LIES[claim]):
        tried = 0
        for finding, case, advice in by_claim[claim]:
            changed = lie(case)
            if changed is None:
                continue
            tried += 1
            assert complaints_on(finding, changed, advice), f"{lie.__doc__} ({number}): {finding.sentence}"
        assert tried, lie.__doc__


def test_the_checker_objects_to_the_cost_of_a_bias_that_is_not_there(by_claim):
    for finding, case, advice in by_claim["bias costs"]:
        assert complaints_on(finding, case, replace(advice, name="cosine", scorer=case.table["cosine"].scorer))


def test_the_checker_objects_to_an_interval_that_contradicts_its_p(by_claim):
    """As ceilings had it: not sure by its p, and an interval without zero beside it."""
    tried = 0
    for _, case, _ in by_claim["documents unclear"]:
        ceiling = case.shape.ceiling
        narrow = [row._replace(gain=Estimate(0.02, 0.01, 0.03), p=0.2) for row in ceiling.rows]
        doubtful = replace(case, shape=replace(case.shape, ceiling=replace(ceiling, rows=narrow)))
        for finding in doubtful.advice.findings:
            if finding.claim == "documents unclear":
                tried += 1
                assert any("stands beside" in each for each in complaints_on(finding, doubtful, doubtful.advice))
    assert tried


@pytest.mark.parametrize(
    "words",
    ["keep cosine.", "Keep  cosine.", "Keep cosine", "Keep cosine (it has.", "Keep cosine, p = nan.", "Keep cosine..",
     "Keep cosine [].", "Keep cosine. it is better.", "Keep None."],
)  # fmt: skip
def test_the_checker_objects_to_ugly_sentences(words):
    from tests.auditing.checker import grammar

    assert grammar(words)
    assert not grammar("Keep cosine: it has ndcg@10 0.5000 (p = 0.2).")
