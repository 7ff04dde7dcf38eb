"""No sentence says what its numbers do not: thousands of planted cases, each read back by a checker that can object."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import offsphere as osp
from offsphere.scoring.query_bank import QueryBank
from offsphere.statistics.estimate import Estimate
from offsphere.wording.claims_in_words import WORDS
from tests.auditing.cases import draw
from tests.auditing.checker import complaints_of, complaints_on
from tests.auditing.mutations import LIES, SECTION_LIES
from tests.auditing.read_scorers import ScorerReader
from tests.auditing.read_sections import CEILING, DUAL, section_complaints

CASES = int(os.environ.get("OFFSPHERE_VERDICTS", "2400"))
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
        both = {finding.sentence: finding for finding in [*advice.findings, *case.table.findings]}
        for finding in both.values():
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


@pytest.mark.parametrize(
    ("section", "number"), [(name, n) for name, all_ in SECTION_LIES.items() for n in range(len(all_))]
)
def test_the_checker_objects_where_numbers_were_changed_behind_a_section(told, section, number):
    lie, tried = SECTION_LIES[section][number], 0
    for case, advice in told[:600]:
        part = getattr(case.shape, section)
        if part is None or "cannot be told: " in part.sentence or "say nothing here" in part.sentence:
            continue
        changed = lie(case) if "cannot differ" not in part.sentence else None
        if changed is None:
            continue
        tried += 1
        objections = [name for name, _ in section_complaints(changed, advice, case)]
        assert section in objections, f"{lie.__doc__}: {part.sentence}"
    assert tried > 30, lie.__doc__


def test_every_sentence_of_a_section_is_made_by_some_case(told):
    read = {"dual": DUAL, "ceiling": CEILING}
    for section, patterns in read.items():
        sentences = [part.sentence for case, _ in told if (part := getattr(case.shape, section)) is not None]
        for way, pattern in patterns:
            assert any(re.match(pattern, sentence) for sentence in sentences), way
    relevance = " ".join(case.shape.relevance.sentence for case, _ in told if case.shape.relevance is not None)
    for words in ("queries are too few", "the judgments were made", "could be compared", "relevant documents have"):
        assert words in relevance


def test_the_checker_objects_where_cosine_is_said_to_be_what_all_are_held_against(told):
    """As it was once: "gains nothing on cosine's ndcg@10", of vectors of two models, which have no cosine."""
    claims = set()
    for case, advice in told:
        name = case.table.baseline
        for finding in advice.findings if name != "cosine" else []:
            false = finding.sentence.replace(name, "cosine")
            if finding.topic == "scorer" and false != finding.sentence:
                claims.add(finding.claim)
                reader = ScorerReader(case, advice)
                reader.scorer(false)
                assert reader.complaints, false
    assert {"better", "sure but small", "nothing gains enough", "nothing surely better", "no choice"} <= claims


def test_the_checker_objects_to_the_cost_of_a_bias_that_is_not_there(by_claim):
    for finding, case, advice in by_claim["bias costs"]:
        assert complaints_on(finding, case, replace(advice, name="cosine", scorer=osp.Scorer()))


def test_the_checker_objects_where_a_bias_is_kept_up_in_another_way(by_claim):
    """As it was once: a saved bank of queries promised for every bias, those without one too."""
    ids, larger = ("a", "b", "c"), QueryBank(np.eye(5, dtype=np.float32), 2, 0.75)
    lies = {
        "bank": {"ids": ids, "bank": larger},
        "ids": {"ids": ids, "bank": None},
        "rows": {"ids": None, "bank": None},
    }
    told = set()
    for finding, case, advice in by_claim["bias costs"]:
        bias = advice.scorer.bias
        kept = "bank" if bias.bank is not None else "ids" if bias.ids is not None else "rows"
        told.add(kept)
        for other, lie in lies.items():
            false = replace(advice, scorer=replace(advice.scorer, bias=replace(bias, **lie)))
            assert complaints_on(finding, case, false) or other == kept != "bank", (other, finding.sentence)
    assert told == set(lies)


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


def test_the_checker_objects_to_rows_and_choices_whose_interval_contradicts_their_p(told):
    """As rows had it: "which may be chance (+0.0198 [+0.0061, +0.0330], p = 0.056, corrected)"."""
    tried = Counter()
    for case, _ in told[:600]:
        table, procedure = case.table, case.table.procedure
        rows = [_narrow(row, "difference", "difference_low", "difference_high") for row in table.rows]
        followed = _narrow(procedure, "gain", "low", "high") if procedure is not None else None
        narrow = {"nothing surely better": {"rows": rows}, "length and relevance": {"rows": rows}}
        for claim, changes in (narrow | {"row better, choice unsure": {"procedure": followed}}).items():
            doubtful = replace(case, table=replace(table, **changes))
            advice = doubtful.advice
            for finding in (each for each in advice.findings if each.claim == claim):
                printed = [finding.numbers.get(name) or 0 for name in ("first_gain", "dot_gain", "gain")]
                doubted = [finding.numbers.get(name) or 0 for name in ("first_p", "dot_p", "p")]
                if not any(p >= 0.05 and abs(gain) > 0.0003 for gain, p in zip(printed, doubted, strict=True)):
                    continue
                tried[claim] += 1
                assert any("stands beside" in each for each in complaints_on(finding, doubtful, advice)), (
                    finding.sentence
                )
    assert min(tried[claim] for claim in narrow) > 10
    assert tried["row better, choice unsure"] > 3


def _narrow(thing, gain, low, high):
    """The same with an interval that leaves out zero, where its p says that it may be chance."""
    if thing.p is None or not thing.p >= 0.05:
        return thing
    ends = sorted(part * getattr(thing, gain) for part in (0.5, 1.5))
    return replace(thing, **{low: ends[0], high: ends[1]})


@pytest.mark.parametrize(
    "words",
    ["keep cosine.", "Keep  cosine.", "Keep cosine", "Keep cosine (it has.", "Keep cosine, p = nan.", "Keep cosine..",
     "Keep cosine [].", "Keep cosine. it is better.", "Keep None."],
)  # fmt: skip
def test_the_checker_objects_to_ugly_sentences(words):
    from tests.auditing.checker import grammar

    assert grammar(words)
    assert not grammar("Keep cosine: it has ndcg@10 0.5000 (p = 0.2).")
