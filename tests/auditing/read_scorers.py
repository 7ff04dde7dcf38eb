"""Reads the sentences on which scorer to use."""

from __future__ import annotations

import re
from math import isfinite

from tests.auditing.reader import CHANGE, FEWEST, NUMBER, P, Reader, number, shown

CORRECTED = r"(?:tested alone|corrected for (?P<rows>[\d,]+) rows?)"
ALONE = r"(?: \(p (?P<p>[=<] \S+) for these two alone\))?"
FIRST = (
    ("_use", r"Use (?P<name>.+?) instead of cosine: "),
    ("_keep", r"Keep cosine: "),
    ("_stop", r"Stop using (?P<name>.+?), which this model declares, and take cosine \((?P<why>[^)]*)\): "),
    ("_no_choice", r"Do not choose by this task: cosine has (?P<why>no|a) (?P<metric>\S+?):? "),
    (
        "_higher",
        (
            rf"In the table (?P<best>.+) has a higher value \((?P<higher>{NUMBER}) against (?P<value>{NUMBER}) for "
            rf"(?P<name>.+?)\){ALONE}; the first of many rows is always a little too good\.$"
        ),
    ),
    (
        "_declared",
        (
            rf"The model declares (?P<declared>.+?), which reaches (?P<metric>\S+) (?P<value>{NUMBER}); (?P<name>.+?) "
            rf"differs from it by (?P<gain>{NUMBER}){ALONE}\.$"
        ),
    ),
)
REASONS = (
    (
        "_bound",
        (
            rf"no scorer gains as much as (?P<worth>{NUMBER}) on its \S+ of (?P<base>{NUMBER}) \(the best gains "
            r"(?P<most>[^)]*)\)"
        ),
    ),
    (
        "_small",
        (
            r"(?P<name>.+) is better, but by too little to matter\. On \w+ that took no part in the choice \S+ changes "
            rf"by {CHANGE} from (?P<base>{NUMBER}) \({P}\), which is less than (?P<worth>{NUMBER})"
        ),
    ),
    (
        "_unsure",
        (
            r"(?:of (?P<others>[\d,]+) other scorers none is|the other scorer is not) surely better than its \S+ of "
            rf"(?P<base>{NUMBER})\. First comes (?P<first>.+?) with {CHANGE}, which may be luck \({P}, {CORRECTED}\)"
        ),
    ),
    (
        "_row_better",
        (
            rf"(?:letting the tool choose changed \S+ by .*? from (?P<base>{NUMBER}) \(p [^)]*\).*?|nothing could be "
            rf"chosen that gains (?P<worth>{NUMBER}))\. In the table (?P<first>.+?) is better by {CHANGE} \({P}, "
            rf"{CORRECTED}\)(?P<little>, which is too little to matter)?"
        ),
    ),
    ("_highest", rf"nothing ranks better than its \S+ of (?P<base>{NUMBER})"),
    ("_alike", rf"all that was compared ranks alike \(\S+ (?P<base>{NUMBER})\)"),
    (
        "_equal",
        (
            r"all vectors that it ranks have the same length, so the dot product ranks exactly as it does "
            rf"\(\S+ (?P<base>{NUMBER})\) and costs less to serve"
        ),
    ),
    ("_few", rf"(?P<units>[\d,]+) \w+ are too few to choose by \(it has \S+ (?P<base>{NUMBER})\)"),
)


class ScorerReader(Reader):
    """Sentences on which scorer to use."""

    def scorer(self, sentence):
        """One sentence on which scorer to use."""
        if re.match(r"Use|Keep|Stop", sentence):
            made = "on judgments that are made, not human" in sentence
            self.say(made == bool(self.table.task.get("judgments_made")), "says wrongly who judged")
            self.say(self.readable, "recommends by a metric without value")
        for name, pattern in FIRST:
            match = re.match(pattern, sentence)
            if match:
                getattr(self, name)(match, sentence)
                return
        self.say(False, "cannot be read")

    def _use(self, match, sentence):
        name = "dot" if match["name"] == "the dot product" else match["name"]
        self.say(self.enough, "chooses by a handful")
        self.say(name == self.advice.name, f"uses {name}, not {self.advice.name}")
        self.say(name != "cosine", "uses cosine instead of cosine")
        self.say(self.advice.scorer.phrase in sentence, "says something else of what it does")
        procedure, row = self.table.procedure, self.row(name)
        if "took no part in the choice" in sentence:
            self.say(procedure is not None, "nothing was chosen on a part")
            change = re.search(rf" on (\w+) that took no part in the choice (\S+) changes by {CHANGE} from "
                               rf"(?P<base>{NUMBER}) \({P}(?:, chosen in (?P<share>\S+) % of (?P<tries>\S+) tries)?\)",
                               sentence)  # fmt: skip
            if change is None or procedure is None:
                self.say(False, "cannot be read")
                return
            numbers = (procedure.gain, procedure.low, procedure.high, procedure.p)
            self.say(procedure.name == name, "the procedure chooses something else")
            if change["share"] is not None:
                self.share(change["share"], procedure.chosen.get(name, 0.0))
                self.say(number(change["tries"]) == procedure.repeats * procedure.folds, "other tries")
            else:
                self.say(procedure.chosen.get(name) == 1, "was not always chosen")
        else:
            change = re.search(
                rf": (?P<metric>\S+) (?P<value>{NUMBER}) against (?P<base>{NUMBER}), {CHANGE} \({P}"
                r"(?:, corrected for (?P<rows>[\d,]+) rows?)?\)",
                sentence,
            )
            if change is None or row is None:
                self.say(False, "cannot be read")
                return
            numbers = (row.difference, row.difference_low, row.difference_high, row.p)
            self.say(shown(change["value"], row.value), "another value")
            self._corrected(change, row)
        self.change(change, *numbers)
        self.say(shown(change["base"], self.cosine.value), "cosine has another value")
        gain, _, high, p = numbers
        if "hardly luck" in sentence:
            self.say(p < 0.05 and gain > 0, "it may be luck")
        self.say(high >= self.table.worth, "recommends what cannot matter")
        relative = re.search(r"\. [^.]*?(less than 0\.1|\d[\d,]*(?:\.\d)?) %([^,]*), and that is hardly luck", sentence)
        if relative is not None:
            self.share(relative[1], gain / self.cosine.value)
            self.say(re.search(r"\b(better|more|higher)\b", relative[2]) is not None, "calls a gain a loss")
        else:
            self.say(self.cosine.value <= 0, "does not say what it buys")

    def _stop(self, match, sentence):
        row = self.row("dot" if match["name"] == "the dot product" else match["name"])
        self.say(self.case.declared is not None and row is self.row(self.case.declared), "declares something else")
        self.say(self._loses(row), "it does not surely lose")
        why = re.fullmatch(rf"it (?:loses|reaches (?P<share>.+) % of cosine's \S+), {P}", match["why"])
        self.say(why is not None, "cannot be read")
        if why is not None and row is not None:
            self.chance(why["p"], row.p)
            if why["share"] is not None:
                self.share(why["share"], row.value / self.cosine.value)
        self._stay(sentence[match.end() :])

    def _keep(self, match, sentence):
        rest = sentence[match.end() :]
        if self.case.declared is not None and "the same length" not in rest:
            declared = self.row(self.case.declared)
            self.say(not self._loses(declared), "says keep, though the model declares what loses")
        self._stay(rest)

    def _loses(self, row):
        return row is not None and row.p is not None and self.enough and row.p < 0.05 and row.difference < 0

    def _stay(self, rest):
        """Why cosine stays: exactly one of the reasons there are."""
        self._stays()
        matches = [(name, match) for name, pattern in REASONS if (match := re.match(pattern, rest))]
        self.say(len(matches) == 1, f"cannot be read in one way: {rest}")
        for name, match in matches:
            self.say(match["base"] is None or shown(match["base"], self.cosine.value), "cosine has another value")
            getattr(self, name)(match)
            self._followed(rest, asked=name in ("_unsure", "_row_better"))

    def _stays(self):
        self.say(self.advice.name == "cosine", f"keeps cosine while {self.advice.name} is chosen")

    def _is_worth(self, text):
        self.say(abs(number(text) - self.worth) < 1e-3 * self.worth, f"{text} is not what is worth having")

    def _bound(self, match):
        most, bound = match["most"], self.table.most_to_gain
        self._is_worth(match["worth"])
        self.say(bound < self.worth, "it may gain as much")
        words = {"nothing": bound == 0, "less than 0.0001": bound < 0.0001}
        self.say(words[most] if most in words else shown(most.removeprefix("at most "), bound), "another bound")
        self.say(self.enough, "certain of a handful")

    def _small(self, match):
        procedure = self.table.procedure
        self.change(match, procedure.gain, procedure.low, procedure.high, procedure.p)
        self.say(procedure.p < 0.05 and procedure.gain > 0, "is not surely better")
        self.say(procedure.high < self.worth, "might matter")
        self.say(match["name"] == procedure.name != "cosine", "names another scorer")
        self._is_worth(match["worth"])

    def _named_row(self, match):
        """The row that is named, whose change and p are printed."""
        row = self.row(match["first"])
        if row is None:
            self.say(False, f"there is no {match['first']}")
            return None
        self.change(match, row.difference, row.difference_low, row.difference_high, row.p)
        self._corrected(match, row)
        return row

    def _corrected(self, match, row):
        corrected = sum(not other.planned and other.p is not None for other in self.table.rows)
        self.say((match["rows"] is None) == row.planned, "says wrongly whether p is corrected")
        self.say(match["rows"] is None or number(match["rows"]) == corrected, "corrected for another number")

    def _surely(self):
        return [row for row in self.table.rows if row.p is not None and row.p < 0.05 and row.difference > 0]

    def _unsure(self, match):
        row = self._named_row(match)
        self.say(not self._surely(), "one is surely better")
        self.say(row is self.table.rows[0], "another comes first")
        self.say(number(match["others"] or "1") == len(self.table.rows) - 1, "another number of scorers")

    def _row_better(self, match):
        row = self._named_row(match)
        self.say(row in self._surely() and self.enough, "is not surely better")
        little = row is not None and row.difference_high < self.worth
        self.say(bool(match["little"]) == little, "says wrongly whether it matters")

    def _followed(self, rest, *, asked):
        """What letting the tool choose brought, where that was tried."""
        procedure = self.table.procedure
        match = re.search(rf"letting the tool choose changed \S+ by {CHANGE}(?: from \S+)? \({P}\)[^;.]*", rest)
        if match is None:
            self.say(not asked or procedure is None, "keeps back what the choice gained")
            return
        self.change(match, procedure.gain, procedure.low, procedure.high, procedure.p)
        self.say("may be luck" not in match[0] or procedure.p >= 0.05, "it is hardly luck")
        better = procedure.p < 0.05 and procedure.gain > 0
        back = "it chooses cosine" in match[0]
        self.say(back == (better and procedure.name == "cosine"), "says wrongly what is chosen")

    def _highest(self, _):
        higher = [row for row in self.table.rows if row.p is not None and row.difference > 0]
        self.say(not higher, "something has a higher value")

    def _alike(self, _):
        self.say(len(self.table.rows) == 1, "there is more than one")

    def _equal(self, _):
        self.say("dot" in self.cosine.same_ranking_as, "the dot product ranks otherwise")

    def _few(self, match):
        self.say(number(match["units"]) == self.units < FEWEST, "there are enough")

    def _no_choice(self, match, sentence):
        self._stays()
        if match["why"] == "no":
            self.say(not isfinite(self.cosine.value), "cosine has a value")
            self.say(f"all {self.units:,} {self.unit}" in sentence, "another number of units")
        else:
            value = re.search(rf" of ({NUMBER}), surely below zero", sentence)
            self.say(value is not None and shown(value[1], self.cosine.value), "cosine has another value")
            self.say(self.unit == "pairs" and self.cosine.high < 0, "it is not surely below zero")

    def _higher(self, match, _):
        best, row = self.row(match["best"]), self.advice.choice.row
        self.say(best is not None and best.value > row.value, "it has no higher value")
        self.say(best is not None and shown(match["higher"], best.value), "it has another value")
        self.say(shown(match["value"], row.value) and match["name"] == self.advice.name, "another is recommended")

    def _declared(self, match, _):
        row, chosen = self.row(match["declared"]), self.advice.choice.row
        self.say(match["declared"] == self.case.declared and row is not None, "declares something else")
        self.say(row is not None and shown(match["value"], row.value), "reaches another value")
        self.say(match["name"] == self.advice.name, "another is recommended")
        self.say(row is not None and shown(match["gain"], chosen.value - row.value), "differs otherwise")
