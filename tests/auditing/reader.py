"""What a sceptic asks of a case: are printed numbers those of the case, and on the same side of chance?"""

from __future__ import annotations

from math import isfinite, isnan

NUMBER = r"[+-]?\d[\d,]*(?:\.\d+)?"
CHANGE = rf"(?P<gain>{NUMBER})(?: \[(?P<low>{NUMBER}), (?P<high>{NUMBER})\])?"
P = r"p (?P<p>[=<] [\d.e-]+)"
EFFECT = rf"d = ({NUMBER})(?: \[({NUMBER}), ({NUMBER})\])?"
FEWEST = 10


def number(text):
    """A printed number."""
    return float(text.replace(",", ""))


def shown(text, value, places=4):
    """Whether a printed number is that value, rounded."""
    return isfinite(value) and abs(number(text) - value) <= 0.5 * 10**-places + 1e-9


class Reader:
    """One case, and the questions a sceptic asks of it."""

    def __init__(self, case, advice):
        self.case, self.advice, self.table = case, advice, case.table
        self.complaints = []
        task = self.table.task
        self.unit = "pairs" if task["kind"] == "pairs" else "queries"
        self.units = task[self.unit]
        self.enough = self.units >= FEWEST
        self.cosine = next(row for row in self.table.rows if row.p is None)
        turned = self.unit == "pairs" and self.cosine.high < 0
        self.readable = isfinite(self.cosine.value) and not turned
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
        else:
            self.say(not (isfinite(low) and isfinite(high)), "an interval is kept back")
        self.chance(match["p"], p)

    def chance(self, text, p):
        """A printed p is that p, and on the same side of 0.05."""
        relation, printed = text[0], float(text[2:])
        good = p < printed if relation == "<" else abs(printed - p) <= 0.05 * p + 1e-12
        self.say(good and (p < 0.05) == (printed < 0.05), f"p {text} is not {p}")

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
