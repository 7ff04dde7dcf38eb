"""Reads the sentence on other systems."""

from __future__ import annotations

import re
from math import isfinite

from tests.auditing.reader import CHANGE, NUMBER, P, Reader, shown

SENTENCE = (
    rf"(?:The best of (?P<rows>\d+) rows that no vector index serves, (?P<best>.+?),|"
    rf"No vector index serves (?P<only>.+?), which) is "
    rf"(?P<state>better|worse|not surely better or worse) than (?P<chosen>.+?): \S+ (?P<value>{NUMBER}), "
    rf"a difference of {CHANGE} \((?P<sure>very sure|fairly sure|may be chance), {P}\)\.$"
)


class ListReader(Reader):
    """Sentences on lists of other systems."""

    def lists(self, sentence):
        """How the best of them stands to what is recommended."""
        match = re.match(SENTENCE, sentence)
        self.say(match is not None, "cannot be read")
        self.say(self.enough and self.readable, "compares systems by numbers that cannot be read")
        if match is None:
            return
        row = next((row for row in self.table.lists if row.name == (match["best"] or match["only"])), None)
        if row is None:
            self.say(False, "no such list was measured")
            return
        self.say(int(match["rows"] or 1) == len(self.table.lists), "another number of rows")
        self.say(
            row.value == max(other.value for other in self.table.lists if isfinite(other.value)),
            "another one is better",
        )
        self.say(shown(match["value"], row.value), "it has another value")
        self.say(match["chosen"] == self.advice.choice.name, "it is held against what is not recommended")
        p = row.p if row.over_chosen_p is None else row.over_chosen_p
        self.change(match, row.over_chosen, row.over_chosen_low, row.over_chosen_high, p)
        self.certain(match["sure"], p)
        sure = ("better" if row.over_chosen > 0 else "worse") if p < 0.05 else "not surely better or worse"
        self.say(match["state"] == sure, "it is another way")
