"""Reads the sentences of the sections on length, which a page and ``--verbose`` show beside the verdict."""

from __future__ import annotations

import re
from math import isfinite, isnan

from tests.auditing.read_ceiling import WORDS
from tests.auditing.read_lengths import LengthReader
from tests.auditing.reader import CHANGE, NUMBER, P, number, shown

DUAL = (
    ("_untold", r"what the dot product does against cosine cannot be told: (?P<why>.*)$"),
    ("_alike", rf"cosine and dot product cannot differ here: both reach (?P<metric>\S+) (?P<value>{NUMBER})$"),
    (
        "_moves",
        (
            rf"the dot product (?P<state>gains|loses) (?P<size>{NUMBER}) (?P<metric>\S+) against cosine \({P}\)"
            r"(?:: (?P<warning>.*))?$"
        ),
    ),
    (
        "_equal",
        rf"the dot product makes no difference that matters against cosine \({CHANGE} (?P<metric>\S+), {P}\)$",
    ),
    (
        "_unsure",
        rf"whether the dot product gains or loses against cosine cannot be told \({CHANGE} (?P<metric>\S+), {P}\)$",
    ),
)
WARNING = re.compile(
    r"(?:magnitude collapse: )?(?P<lost>cosine|the dot product) keeps only (?P<share>\d+)% of what (?:cosine|the dot "
    r"product) finds[;:] .* never serve (?:it by cosine|its raw vectors by inner product)$"
)
BOUND = (
    r"; nothing of the kind gains more than (?P<most>[+-]?[\d.]+)"
    r"(?P<again>; with (?P<share>\d+)% of the judgments .*)?$"
)
CEILING = (
    (
        "_best",
        (
            rf"ceiling: the best about documents alone \((?P<kind>.*?)\) gains {CHANGE} (?P<metric>\S+) over cosine "
            rf"\({P}\)(?P<held>, of which a curve of today's lengths gets (?:nothing that one could see "
            rf"\((?P<nothing>[+-]?[\d.]+)\)|(?P<part>[+-]?[\d.]+)))?{BOUND}"
        ),
    ),
    (
        "_nothing_sure",
        (
            rf"ceiling: nothing about documents alone surely gains over cosine; the best \((?P<kind>.*?)\) changes it "
            rf"by {CHANGE} (?P<metric>\S+) \({P}\){BOUND}"
        ),
    ),
)


class SectionReader(LengthReader):
    """What a section says of a case, held against rows and effects."""

    def section(self, name, part):
        """The sentence of one section."""
        if name == "relevance":
            self._relevance(part.sentence)
            return
        patterns = {"dual": DUAL, "ceiling": CEILING}[name]
        matches = [(way, match) for way, pattern in patterns if (match := re.match(pattern, part.sentence))]
        self.say(len(matches) == 1, "cannot be read in one way")
        for way, match in matches:
            getattr(self, way)(match)

    def _relevance(self, sentence):
        measured = self.case.shape.relevance
        made = measured.made and measured.relevant > 0.5 * (measured.relevant + measured.others)
        start = "length and relevance say nothing here: "
        if sentence.startswith(start):
            why = sentence.removeprefix(start)
            counts = f"{measured.relevant:,} of {measured.relevant + measured.others:,} documents"
            few = f"{self.units:,} queries are too few"
            self.say(why == few if not self.enough else made and "were made" in why and counts in why, "it says enough")
            return
        self.say(self.enough and not made, "speaks of relevance by a handful, or by made judgments")
        if sentence == "no vector lengths could be compared":
            self.say(isnan(measured.d.value) and isnan(measured.within.d.value), "keeps back an effect")
            return
        self.say(self.relevance(f"{sentence[0].upper()}{sentence[1:]}."), "cannot be read")

    def _untold(self, match):
        why, dot = match["why"], self.row("dot")
        if "too few" in why:
            self.say(why == f"{self.units:,} {self.unit} are too few" and not self.enough, "there are enough")
        elif "has no" in why:
            lacking = self.baseline if why.startswith("cosine") else dot
            self.say(not isfinite(lacking.value) and why.endswith(self.table.metric), "it has a value")
        else:
            self.say("turned round" in why and not self.readable, "it can be read")

    def _alike(self, match):
        self.say("dot" in self.baseline.same_ranking_as, "they can differ")
        self.say(shown(match["value"], self.baseline.value) and match["metric"] == self.table.metric, "another value")

    def _told(self, match, state):
        """What every sentence that tells something of the dot product must fulfil; its row."""
        dot = self.row("dot")
        self.say(self.enough and self.readable and isfinite(dot.difference), "tells by a handful, or by nothing")
        self.say(match["metric"] == self.table.metric, "another metric")
        self.say(state == self.dot_state(), f"{state}, though it is: {self.dot_state()}")
        self.chance(match["p"], dot.p)
        return dot

    def _moves(self, match):
        dot = self._told(match, match["state"])
        self.say(shown(match["size"], abs(dot.difference)), "another size")
        higher, lower = max(dot.value, self.baseline.value), min(dot.value, self.baseline.value)
        self.say((match["warning"] is not None) == (lower < 0.5 * higher > 0), "a collapse is made up, or kept back")
        if match["warning"] is None:
            return
        warning = WARNING.match(match["warning"])
        self.say(warning is not None, "the warning cannot be read")
        if warning is not None:
            self.say((warning["lost"] == "cosine") == (self.baseline.value == lower), "the other one collapses")
            self.say(abs(number(warning["share"]) - 100 * max(lower, 0) / higher) <= 0.5 + 1e-9, "another share")

    def _equal(self, match):
        dot = self._told(match, "equal")
        self.change(match, dot.difference, dot.difference_low, dot.difference_high, dot.p)

    def _unsure(self, match):
        dot = self._told(match, "none")
        self.change(match, dot.difference, dot.difference_low, dot.difference_high, dot.p)
        self.say(dot.p >= 0.05 or not dot.difference, "it can be told")

    def _row(self, match):
        """The kind of number that is spoken of, whose gain is printed, and the bound on all kinds."""
        ceiling = self.case.shape.ceiling
        row = next(row for row in ceiling.rows if row.kind == WORDS[match["kind"]])
        self.change(match, *row.gain, row.p)
        self.say(match["metric"] == ceiling.metric, "another metric")
        self.say(shown(match["most"], ceiling.most), "another bound")
        again = ceiling.spread.wanted_again
        self.say((match["again"] is not None) == (again < 0.05), "what is wanted again is kept back, or made up")
        self.say(match["share"] is None or abs(number(match["share"]) - 100 * again) <= 0.5, "another share")
        return row

    def _sure(self):
        return [row for row in self.case.shape.ceiling.rows if row.p < 0.05 and row.gain.value > 0]

    def _best(self, match):
        row = self._row(match)
        self.say(row in self._sure(), "does not surely gain")
        self.say(all(row.gain.value >= other.gain.value for other in self._sure()), "not the best")
        length = next((other for other in self.case.shape.ceiling.rows if other.kind == "length"), None)
        self.say((match["held"] is not None) == (length is not None and length is not row), "what lengths hold")
        if match["held"] is not None:
            self.say((match["part"] is not None) == (length in self._sure()), "lengths surely gain, or do not")
            self.say(shown(match["part"] or match["nothing"], length.gain.value), "lengths gain something else")

    def _nothing_sure(self, match):
        row = self._row(match)
        self.say(not self._sure(), "something surely gains")
        gains = [other.gain.value for other in self.case.shape.ceiling.rows]
        self.say(row.gain.value == max(gains), "not the best")


def section_complaints(case, advice, told=None):
    """Everything that is wrong with what the sections say of a case, each named with its part.

    Args:
        case: Against which they are held.
        advice: On it.
        told: The case whose sentences they are, where that is another one.
    """
    found = []
    for name in ("relevance", "dual", "ceiling"):
        part = getattr((told or case).shape, name)
        if part is None:
            continue
        reader = SectionReader(case, advice)
        if name == "dual" and (reader.row("dot") is None or part.metric != case.table.metric):
            continue  # it made a comparison of its own, since this one has no dot product or another metric
        reader.section(name, part)
        found += [(name, f"{part.sentence}\n  {complaint}") for complaint in reader.complaints]
    return found
