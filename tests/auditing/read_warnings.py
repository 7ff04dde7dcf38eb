"""Reads the warnings: wrong settings, hubs, rogue dimensions, too few queries, what a bias costs."""

from __future__ import annotations

import re
from math import ceil

import numpy as np
from scipy.stats import norm

from offsphere.base.errors import VectorError
from tests.auditing.reader import FEWEST, NORMALISED, NUMBER, P, Reader, number, shown

WARNINGS = (
    (
        "_collapse",
        (
            r"Never put (?:the vectors as they are|these vectors) into an index set to (dot product|cosine): it "
            rf"reaches (.+?) % of (cosine|the dot product)'s (\S+) \((?P<sure>[a-z ]+), {P}\)"
            r"(?P<since>, since this model put what it knows into vector length)?\.$"
        ),
    ),
    (
        "_made_for",
        (
            r"The model was made for cosine: in an index set to dot product its vectors as they are lose "
            rf"({NUMBER}) of (\S+) \((?P<sure>[a-z ]+), {P}\)\.$"
        ),
    ),
    (
        "_hubs",
        (
            r"Hubs \(documents that come up whatever is asked\): by (?P<scorer>.+) (?P<hubs>[\d,]+) of "
            r"(?P<documents>[\d,]+) documents are in the first (?P<k>\d+) of (?P<lists>\d+) queries or more, by chance "
            r"(?P<chance>hardly any|[\d,.]*\d)\. Look at the worst, (?P<worst>.*), in (?P<worst_lists>[\d,]+) of "
            r"(?P<queries>[\d,]+) lists: if it answers none of them, mend or remove it\.$"
        ),
    ),
    (
        "_rogue",
        (
            r"A rogue dimension on the (\w+) side: dimension (\d+) makes (\S+) % of the mean cosine of "
            rf"({NUMBER})\. Centring or whitening takes it out\.$"
        ),
    ),
    ("_few", r"([\d,]+) (\w+) are too few to tell anything: give at least (?P<fewest>\d+), better some hundred\.$"),
    (
        "_more",
        (
            rf"([\d,]+) (\w+) are too few to be sure: if choosing a scorer really gains ({NUMBER}), about "
            r"([\d,]+) \w+ would show it in four of five tries\.$"
        ),
    ),
    (
        "_bias",
        (
            r"With (?P<name>.+) every document gets a number that was made from queries: (?:"
            r"(?P<all>whenever the corpus changes, the scorer must be made again for all documents)|"
            r"(?P<none>no bank of queries was saved, so that for new documents the scorer must be made again)|"
            r"when the corpus changes, new documents must be given theirs from the saved bank of (?P<bank>[\d,]+) "
            r"quer(?:y|ies)), and stored vectors have (?P<dimensions>one|two) dimensions? more\.$"
        ),
    ),
    ("_same", rf"Every vector length is the same: {NORMALISED}\.$"),
)


class WarningReader(Reader):
    """Sentences on what to mind."""

    def wrong(self, sentence):
        """One warning."""
        matches = [(name, match) for name, pattern in WARNINGS if (match := re.match(pattern, sentence))]
        self.say(len(matches) == 1, "cannot be read in one way")
        for name, match in matches:
            getattr(self, name)(match)

    def _collapse(self, match):
        dot = self.row("dot")
        lost, kept = (self.baseline, dot) if match[1] == "dot product" else (dot, self.baseline)
        self.say((match[3] == "cosine") == (lost is self.baseline), "held against itself")
        self.say(match[4] == self.table.metric, "another metric")
        self.say((match["since"] is not None) == (lost is dot), "length holds something, or nothing?")
        self.certain(match["sure"], dot.p)
        surely = self.enough and dot.p < 0.05 and kept.value < lost.value
        self.say(surely and (kept.value < 0.5 * lost.value or self._into_dot(kept is dot)), "nothing surely collapses")
        self.share(match[2], max(kept.value, 0) / lost.value)
        self.chance(match["p"], dot.p)
        self.say(self.advice.name != ("dot" if kept is dot else "cosine"), "recommends what collapses")

    def _into_dot(self, is_dot):
        """Whether the verdict sends other vectors into an index set to dot product."""
        return is_dot and re.search(r"^Use .*: transform .*set the index to dot product", self.advice.verdict[0])

    def _made_for(self, match):
        dot = self.row("dot")
        self.say(self.table.declared == "cosine" and self.dot_state() == "loses", "it does not lose")
        self.say(shown(match[1], -dot.difference) and match[2] == self.table.metric, "it loses something else")
        self.certain(match["sure"], dot.p)
        self.chance(match["p"], dot.p)

    def _hubs(self, match):
        row = next(row for row in self.case.shape.hubness if row.scorer == match["scorer"])
        measured = {each.scorer for each in self.case.shape.hubness}
        self.say(row.scorer == (self.advice.name if self.advice.name in measured else "cosine"), "nobody serves that")
        counts = (row.hub_count, row.documents, row.k, 2 * row.k, row.worst[0].occurrences, row.queries)
        names = ("hubs", "documents", "k", "lists", "worst_lists", "queries")
        said = tuple(number(match[name]) for name in names)
        self.say(said == counts, f"{said} is not {counts}")
        self.say(match["worst"] == repr(row.worst[0].id), "another is the worst")
        expected = row.chance["hubs"]
        by_chance = 0.0 if match["chance"] == "hardly any" else number(match["chance"])
        self.say(abs(by_chance - expected) <= 0.05 + 0.05 * expected, "chance gives another number")
        self.say(row.hub_count > max(by_chance, expected), "chance makes as many")

    def _rogue(self, match):
        side = next(side for side in self.case.shape.dimensions if side.side == match[1])
        self.share(match[3], side.contributions[0] / side.mean_cosine)
        self.say(int(match[2]) == side.order[0] and shown(match[4], side.mean_cosine, 2), "another dimension")
        self.say(side.contributions[0] > 0.5 * side.mean_cosine, "it does not make most of it")

    def _few(self, match):
        self.say(number(match[1]) == self.units < FEWEST and match[2] == self.unit, "there are enough")
        self.say(int(match["fewest"]) == FEWEST, "another number is enough")

    def _more(self, match):
        procedure = self.table.procedure
        # what separates the gain from zero in four of five tries: its reach, and 0.84 errors more
        apart = procedure.gain - procedure.low + norm.ppf(0.8) * procedure.error
        needed = ceil(self.units * (apart / procedure.gain) ** 2)
        self.say(number(match[1]) == self.units and shown(match[3], procedure.gain), "other numbers")
        self.say(abs(number(match[4]) - needed) <= 1 + 1e-4 * needed, f"{match[4]} is not {needed}")
        self.say(procedure.gain >= self.worth, "nobody needs such a gain")
        self.say(procedure.p >= 0.05 and needed > self.units >= FEWEST, "it is sure already")
        self.say(self.advice.name == self.baseline.name, "it is chosen already")

    def _bias(self, match):
        scorer = self.advice.scorer
        self.say(match["name"] == self.advice.name and scorer.bias is not None, "it has no bias")
        if scorer.bias is None:
            return
        old, new = self._dimensions_more(scorer, new=0), self._dimensions_more(scorer, new=1)
        self.say((match["all"] is not None) == (scorer.bias.ids is None), "who else must be scored again?")
        self.say((match["bank"] is not None) == (new is not None), "a new document gets a number, or gets none")
        kept = 0 if scorer.bias.bank is None else len(scorer.bias.bank.queries)
        self.say(number(match["bank"] or "0") == kept, "another bank")
        self.say({"one": 1, "two": 2}[match["dimensions"]] == old, f"{old} dimensions more")

    @staticmethod
    def _dimensions_more(scorer, new):
        """What storing adds to vectors of documents that it knows and of new ones; nothing where these are refused."""
        width = scorer.bias.bank.queries.shape[1] if scorer.bias.bank is not None else 5
        documents = np.random.default_rng(0).normal(size=(len(scorer.bias.values) + new, width)).astype(np.float32)
        ids = [*scorer.bias.ids, *(f"new {number}" for number in range(new))] if scorer.bias.ids is not None else None
        try:
            return scorer.lower().documents(documents, ids).shape[1] - width
        except VectorError:
            return None

    def _same(self, _):
        self.say(self.case.shape.lengths[-1].variation < 1e-3, "lengths vary")
