"""What is said of a training, read back: a thousand outcomes of every kind, and numbers changed behind the sentence."""

from __future__ import annotations

import re
from math import isfinite

import numpy as np
import pytest

from offsphere.learning.encoders.outcome import OutcomeRow, TrainingOutcome
from offsphere.statistics.difference import Difference
from tests.auditing.cases import CHANGES, UNITS, change_of
from tests.auditing.reader import CHANGE, NUMBER, P, number, shown

SURE = "(?P<sure>very sure|fairly sure|may be chance)"
FIRST = {
    "few": r"What the training is worth cannot be told: (?P<units>[\d,]+) (?P<unit>\w+) are too few\.$",
    "undefined": r"What the training is worth cannot be told: before or after it there is no ndcg@10\.$",
    "moved": (
        rf"Scored as it was trained, the model is (?P<where>above|below) what cosine found before, {SURE} "
        rf"\({CHANGE}, {P}\)\."
    ),
    "equal": (
        r"Scored as it was trained, the model differs from what cosine found before by less than "
        rf"(?P<worth>{NUMBER}), the smallest gain that matters \({CHANGE}, {P}\)\."
    ),
    "unsure": (
        r"Whether the training helped cannot be told: scored as it was trained, the model differs from what cosine "
        rf"found before by a change that {SURE} \({CHANGE}, {P}\)\."
    ),
}
COSINE = re.compile(
    rf" Cosine of the same vectors is (?P<where>above|below) that, {SURE} \({CHANGE}, {P}\): (?P<so>serve it by "
    r"cosine, or train with both sides normalised|its vector lengths help)\.$"
)


def draw(seed):
    """An outcome whose every part is drawn by itself."""
    rng = np.random.default_rng(seed)
    pick = lambda options: options[int(rng.integers(len(options)))]  # noqa: E731
    before = pick((0.5134, 0.8, 0.0))
    worth = max(0.01, 0.02 * before)
    gain, cosine = (Difference(*change_of(rng, pick, worth, pick(CHANGES))) for _ in range(2))
    rows = [OutcomeRow("before, by cosine", before, before - 0.05, before + 0.05, None)]
    rows += [OutcomeRow("trained, as trained", before + gain.difference, 0.0, 1.0, gain)]
    return TrainingOutcome({"name": "planted", "kind": "ranking", "queries": pick(UNITS)}, "ndcg@10", rows, cosine)


def complaints_on(sentence, outcome):
    """Everything that is wrong with a sentence on an outcome."""
    units, gain, cosine = outcome.task["queries"], outcome.rows[1].gain, outcome.by_cosine
    worth = max(0.01, 0.02 * outcome.rows[0].value)
    ways = [(way, match) for way, pattern in FIRST.items() if (match := re.match(pattern, sentence))]
    if len(ways) != 1:
        return ["cannot be read in one way"]
    (way, match), found = ways[0], []
    if way == "few":
        return [] if number(match["units"]) == units < 10 else ["there are enough"]
    if way == "undefined":
        return [] if not isfinite(gain.difference) else ["it has a value"]
    small = gain.low > -worth and gain.high < worth
    state = "equal" if small else "moved" if gain.p < 0.05 and gain.difference else "unsure"
    found += ["a handful proves nothing"] * (units < 10) + [f"it is {state}"] * (way != state) + _numbers(match, gain)
    if way == "moved" and (match["where"] == "above") != (gain.difference > 0):
        found.append("the other way")
    if way == "equal" and number(match["worth"]) != pytest.approx(worth, rel=1e-3):
        found.append("another gain matters")
    rest, small = sentence[match.end() :], cosine.low > -worth and cosine.high < worth
    surely = cosine.p < 0.05 and cosine.difference and not small
    if not surely or not rest:
        return found + ["cosine surely differs, or does not"] * (bool(surely) != bool(rest))
    match = COSINE.match(rest)
    if match is None:
        return [*found, "what cosine does cannot be read"]
    above = cosine.difference > 0
    if (match["where"] == "above") != above or match["so"].startswith("serve") != above:
        found.append("cosine is on the other side")
    return found + _numbers(match, cosine)


def _numbers(match, change):
    """What is wrong with a printed change, its interval, its p, and the words for how sure it is."""
    found = [] if shown(match["gain"], change.difference) else ["another change"]
    found += [] if shown(match["low"], change.low) and shown(match["high"], change.high) else ["another interval"]
    printed = float(match["p"][2:])
    if abs(printed - change.p) > 0.05 * change.p or (printed < 0.05) != (change.p < 0.05):
        found.append("another p")
    words = "very sure" if change.p < 0.005 else "fairly sure" if change.p < 0.05 else "may be chance"
    return found + ["surer than it is"] * (match.groupdict().get("sure") not in (None, words))


OUTCOMES = [draw(seed) for seed in range(1_000)]


def test_no_sentence_on_a_training_says_what_its_numbers_do_not():
    found = {outcome.conclusion: complaints_on(outcome.conclusion, outcome) for outcome in OUTCOMES}
    assert not {sentence: complaints for sentence, complaints in found.items() if complaints}
    for way, pattern in FIRST.items():
        assert any(re.match(pattern, sentence) for sentence in found), way
    assert sum("Cosine of the same vectors" in sentence for sentence in found) > 100


def _turned(change):
    return Difference(-change.difference, -change.high, -change.low, change.p)


def _doubted(change):
    return change._replace(p=0.5 if change.p < 0.05 else 0.001, low=-1.0, high=1.0)


@pytest.mark.parametrize("lie", [_turned, _doubted])
def test_numbers_that_were_changed_behind_the_sentence_are_objected_to(lie):
    tried = 0
    for outcome in OUTCOMES:
        change, sentence = outcome.rows[1].gain, outcome.conclusion
        if "What the training is worth" in sentence or not change.difference:
            continue
        rows = [outcome.rows[0], outcome.rows[1]._replace(gain=lie(change))]
        tried += 1
        assert complaints_on(sentence, outcome._replace(rows=rows)), sentence
    assert tried > 100


def test_a_handful_of_queries_is_no_proof_of_a_training():
    for outcome in OUTCOMES:
        few = outcome._replace(task={**outcome.task, "queries": 9})
        if isfinite(outcome.rows[1].gain.difference):
            assert few.conclusion == "What the training is worth cannot be told: 9 queries are too few."
