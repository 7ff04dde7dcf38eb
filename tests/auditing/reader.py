"""What a sceptic asks of a case: are printed numbers those of the case, and on the same side of chance?"""

from __future__ import annotations

from functools import lru_cache
from math import isfinite, isnan, sqrt

import numpy as np
from scipy import stats

NUMBER = r"[+-]?\d[\d,]*(?:\.\d+)?"
CHANGE = rf"(?P<gain>{NUMBER})(?: \[(?P<low>{NUMBER}), (?P<high>{NUMBER})\])?"
P = r"p (?P<p>[=<] [\d.e-]+)"
EFFECT = rf"d = ({NUMBER})(?: \[({NUMBER}), ({NUMBER})\])?"
FEWEST = 10
NORMALISED = "these vectors were normalised; magnitude was discarded before we saw it"


def number(text):
    """A printed number."""
    return float(text.replace(",", ""))


def shown(text, value, places=4):
    """Whether a printed number is that value, rounded."""
    return isfinite(value) and abs(number(text) - value) <= 0.5 * 10**-places + 1e-9


OFTEN = r"(?P<often>[\d,]+|none) of (?P<tries>[\d,]+) tries"
CHOICE = rf"following the choice \((?P<name>.+?)(?:, chosen in {OFTEN})?\)"


def p_of(apart):
    """The two-sided p of paired differences, by scipy."""
    return _p_of(apart.tobytes())


@lru_cache
def _p_of(content):
    apart = np.frombuffer(content)
    mean = lambda values, axis: values.mean(axis=axis)  # noqa: E731
    return stats.permutation_test((apart,), mean, permutation_type="samples", n_resamples=9_999, rng=0).pvalue


class Reader:
    """One case, and the questions a sceptic asks of it."""

    def __init__(self, case, advice):
        self.case, self.advice, self.table = case, advice, case.table
        self.complaints = []
        task = self.table.task
        self.unit = {"pairs": "pairs", "episodes": "episodes"}.get(task["kind"], "queries")
        self.units = task[self.unit]
        self.enough = self.units >= FEWEST
        self.baseline = next(row for row in self.table.rows if row.p is None)
        turned = self.unit == "pairs" and self.baseline.high < 0
        self.readable = isfinite(self.baseline.value) and not turned
        self.worth = self.table.worth

    def row(self, name):
        """The row that is spoken of by a name, by whatever it is called."""
        for row in self.table.rows:
            if name in (row.name, *row.same_ranking_as):
                return row
        return next((row for row in self.table.rows if row.scorer.name == name), None)

    def say(self, holds, complaint):
        """Complain unless it holds."""
        if not holds:
            self.complaints.append(complaint)

    def change(self, match, gain, low, high, p):
        """A printed change, its interval and its p are those numbers."""
        self.say(shown(match["gain"], gain), f"{match['gain']} is not {gain}")
        if match["low"] is not None:
            self.say(shown(match["low"], low) and shown(match["high"], high), f"interval is not {low}, {high}")
            ends, small = (number(match["low"]), number(match["high"])), float(match["p"][2:]) < 0.05
            agree = ends[0] >= 0 or ends[1] <= 0 if small else ends[0] <= 0 <= ends[1]
            self.say(agree, f"p {match['p']} stands beside {list(ends)}")
        else:
            self.say(not (isfinite(low) and isfinite(high)), "an interval is kept back")
        self.chance(match["p"], p)

    def chance(self, text, p):
        """A printed p is that p, and on the same side of 0.05."""
        relation, printed = text[0], float(text[2:])
        good = p < printed if relation == "<" else abs(printed - p) <= 0.05 * p + 1e-12
        self.say(good and (p < 0.05) == (printed < 0.05), f"p {text} is not {p}")

    def between(self, text, first, second):
        """A printed p of two rows is what scipy finds; there is one exactly where both have a value a query."""
        p = None if first.values is None or second.values is None else p_of(first.values - second.values)
        self.say((text is None) == (p is None), "a p is made up, or kept back")
        if text is None or p is None:
            return p
        printed = float(text[2:])
        near = 5 * sqrt(2e-4 * p * (1 - p)) + 0.05 * p + 3e-4  # two sets of 10,000 random signs, and two digits
        self.say(abs(printed - p) <= near or (text[0] == "<" and p < 0.001), f"p {text} is not {p}")
        return p

    def certain(self, words, p):
        """The words for how sure something is are those for that p: one scale in every sentence."""
        fitting = "very sure" if p < 0.005 else "fairly sure" if p < 0.05 else "may be chance"
        self.say(words == fitting, f"{words!r} for p = {p}")

    def share(self, text, value):
        """A printed share is that share."""
        if text == "less than 0.1":
            self.say(0 < value < 0.001, f"{value} is not less than 0.1 %")
        else:
            self.say(shown(text, value * 100, 1 if "." in text else 0), f"{text} % is not {value:.4f}")

    def often(self, match):
        """In how many tries the choice fell on what it falls on: told exactly where that was not in all of them."""
        procedure = self.table.procedure
        tries = procedure.repeats * procedure.folds
        times = round(procedure.chosen.get(procedure.name, 0.0) * tries)
        self.say((match["often"] is not None) == (times < tries), "keeps back how often it was chosen, or makes it up")
        if match["often"] is not None:
            said = 0 if match["often"] == "none" else number(match["often"])
            self.say((said, number(match["tries"])) == (times, tries), f"chosen in {said}, not {times} of {tries}")

    def effect(self, match, estimate):
        """A printed effect is that estimate; what it says of zero."""
        if estimate is None or isnan(estimate.value):
            self.say(False, "an effect is told that was not measured")
            return None
        value, low, high = match
        self.say(shown(value, estimate.value, 3), f"d = {value} is not {estimate.value}")
        if estimate.low is None or not isfinite(estimate.low):
            self.say(not low, "an interval is made up")
            return "none"
        self.say(bool(low) and shown(low, estimate.low, 3) and shown(high, estimate.high, 3), "another interval")
        if estimate.low > 0:
            return "longer"
        return "shorter" if estimate.high < 0 else "none"

    def dot_state(self):
        """Which of four the dot product is, from its row alone."""
        dot, worth = self.row("dot"), self.table.worth
        if dot is None or dot.p is None or not self.enough or not self.readable:
            return "none"
        if dot.difference_low > -worth and dot.difference_high < worth:
            return "equal"
        if dot.p < 0.05 and dot.difference:
            return "gains" if dot.difference > 0 else "loses"
        return "none"
