"""Reads the sentences on what to store."""

from __future__ import annotations

import re
from math import isfinite

from tests.auditing.reader import CHANGE, NUMBER, Reader, number, shown

FORM = r"(?P<form>[a-z0-9=+-]+)"
MEMORY = r"vector takes (?P<bytes>[\d,]+) bytes instead of (?P<whole>[\d,]+) \((?P<share>.+?) %\)"
CHANGED = rf"and (?P<metric>\S+) changes by {CHANGE} from (?P<base>{NUMBER})"
TOGETHER = r"(?:, a bound for all (?P<rows>\d+) stored rows together)?"
SENTENCES = (
    (
        "_smaller",
        (
            rf"Store (?P<name>.+?) as {FORM}: (?P<phrase>.*)\. A {MEMORY}, {CHANGED}; what that costs is surely less "
            rf"than (?P<worth>{NUMBER}) \((?:at most (?P<most>{NUMBER})|nothing){TOGETHER}\)\.$"
        ),
    ),
    (
        "_whole",
        (
            r"Store whole vectors of (?P<name>.+?): (?:none of these forms surely costs|(?P<only>\S+) does not surely "
            rf"cost) less than (?P<worth>{NUMBER})\. (?:The nearest is {FORM}: a|A) {MEMORY}, {CHANGED} "
            rf"\(it may cost (?P<most>{NUMBER}){TOGETHER}\)\.$"
        ),
    ),
)


class StoringReader(Reader):
    """Sentences on what to store."""

    def storing(self, sentence):
        """One sentence on what to store."""
        matches = [(name, match) for name, pattern in SENTENCES if (match := re.match(pattern, sentence))]
        self.say(len(matches) == 1, "cannot be read in one way")
        self.say(self.enough and self.readable, "tells what to store by numbers that cannot be read")
        for name, match in matches:
            self.say(abs(number(match["worth"]) - self.worth) <= 1e-3 * self.worth, "something else matters")
            self.say(match["name"] == self.advice.choice.row.deployed, "stores what is not recommended")
            getattr(self, name)(match, self._rows(match["name"]))

    def _rows(self, name):
        """The forms of a scorer that need nothing beside them, and have a value."""
        rows = [row for row in self.table.stored if row.of.deployed == name and row.form.oversampling is None]
        return [row for row in rows if isfinite(row.costs_at_most)]

    def _smaller(self, match, rows):
        row = self._told(match, match["form"], rows)
        if row is None:
            return
        self.say(row.costs_at_most < self.worth, "it may cost as much as matters")
        smaller = [other for other in rows if other.vector_bytes < row.vector_bytes]
        self.say(not any(other.costs_at_most < self.worth for other in smaller), "a smaller one is as safe")
        self.say((match["most"] is None) == (row.costs_at_most <= 0), "it costs something else")

    def _whole(self, match, rows):
        row = self._told(match, match["form"] or match["only"], rows)
        if row is None:
            return
        self.say(not any(other.costs_at_most < self.worth for other in rows), "one form is safe")
        self.say(row.costs_at_most == min(other.costs_at_most for other in rows), "another one is nearer")
        self.say((match["only"] is None) == (len(rows) > 1), "there are more forms, or fewer")

    def _told(self, match, form, rows):
        """The row that is spoken of, if its printed numbers are its own."""
        row = next((row for row in rows if row.form.name == form), None)
        if row is None:
            self.say(False, "no such form was measured")
            return None
        said = (number(match["bytes"]), number(match["whole"]))
        self.say(said == (row.vector_bytes, row.whole_bytes), f"{said} are other bytes")
        self.share(match["share"], row.vector_bytes / row.whole_bytes)
        self.say(shown(match["gain"], row.change), "it changes by something else")
        self.say(shown(match["low"], row.change_low) and shown(match["high"], row.change_high), "another interval")
        self.say(shown(match["base"], row.of.value), "it changes from something else")
        self.say(match["metric"] == self.table.metric, "another metric")
        self.say(match.groupdict().get("phrase", row.form.phrase) == row.form.phrase, "says something else of the form")
        self.say(match["most"] is None or shown(match["most"], row.costs_at_most), "another bound")
        self.say(int(match["rows"] or 1) == len(self.table.stored), "another number of rows")
        return row
