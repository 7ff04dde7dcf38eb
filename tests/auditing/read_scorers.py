"""Reads the sentences on which scorer to use."""

from __future__ import annotations

import re
from math import isfinite

from tests.auditing.read_deployed import SCORER_OF
from tests.auditing.read_index import index_complaints
from tests.auditing.reader import CHANGE, CHOICE, FEWEST, NUMBER, OFTEN, P, Reader, number, shown

CORRECTED = r"(?P<corrected>tested alone|corrected)"
ALONE = r"(?: \(p (?P<p>[=<] [\d.e-]+) for these two alone\))?"
MADE = r"(?P<made> \(judged by a program, not by people\))?"
UNITS = rf"(?P<units>[\d,]+) (?P<unit>\w+){MADE}"
METRIC = r"(?P<metric>\S+) \((?P<means>[^()]*)\)"
SURE = "(?P<sure>very sure|fairly sure|may be chance)"
BASE, VALUE = rf"(?P<base>{NUMBER})", rf"(?P<value>{NUMBER})"
WORTH = rf"the smallest gain that matters, (?P<worth>{NUMBER})"
OTHERS = r"(?:the best of (?P<others>[\d,]+) others|the other scorer)"
COMMAND = r"Run `[^`]+`(?: \(FOLDER: [^)]*\))?"
SET = rf"(?P<index>[^.]+?(?:\. {COMMAND})?)(?P<or_dot> or (?:to )?dot product \(inner product\))?\. "
KEPT = "(?P<kept>.+?)"
INSTEAD = rf"(?:(?P<used>.+?) that your index is set to|{KEPT})"
FIRST = (
    ("_use", rf"Use (?P<name>.+?) instead of {INSTEAD}: (?P<index>.+?)\. It means: (?P<phrase>.+?)\. (?=On )"),
    ("_keep", rf"(?P<verb>Keep|Take) {KEPT}: {SET}"),
    (
        "_stop",
        (
            r"Stop using (?P<name>.+?) that (?P<who>this model declares|your index is set to) \((?P<why>which .*?)\) "
            rf"and take {KEPT}: {SET}"
        ),
    ),
    (
        "_no_choice",
        (
            rf"Do not choose by this task: {KEPT} has (?:no (?P<lacks>\S+): it gives all (?P<units>[\d,]+) "
            rf"(?P<unit>\w+) one score, or none|a (?P<metric>\S+) of (?P<value>{NUMBER}), surely below zero, so the "
            r"gold scores seem to be distances, or turned round)\. Until that is mended, stay with (?P=kept)\.$"
        ),
    ),
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
BUYS = (
    rf"(?:(?P<share>less than 0\.1|{NUMBER}) % better(?: \(between (?P<ends>[^)]*)\))?|"
    rf"(?P<times>{NUMBER}) times as high(?: \(between (?P<least>{NUMBER}) and (?P<most>{NUMBER}) times\))?)"
)
RISES = re.compile(
    rf"On {UNITS}(?P<apart>, each judged by a choice in which it had no say,)? {METRIC} rises from "
    rf"(?:(?P<whose>.+?)'s )?{BASE} to {VALUE}(?:: {BUYS})?, {SURE} \({CHANGE}, {P}(?P<corrected>, corrected)?\)\."
    rf"(?: It was chosen in {OFTEN}(?:, though all (?P<all>\w+) together choose it)?, and the gain is that of "
    r"following the choice, whatever it fell on\.)?$"
)
REASONS = (
    (
        "_bound",
        (
            rf"Surely nothing worth having is missed: on {UNITS} {OTHERS} gains (?P<most>at most {NUMBER}|nothing|less "
            rf"than 0\.0001) on {KEPT}'s {METRIC} of {BASE}, which is less than {WORTH}\.$"
        ),
    ),
    (
        "_small",
        (
            rf"Surely nothing worth having is missed: on {UNITS}, each judged by a choice in which it had no say, "
            rf"{CHOICE} takes {METRIC} "
            rf"from {BASE} to {VALUE} \({CHANGE}, {P}\), which is less than {WORTH}\.$"
        ),
    ),
    (
        "_unsure",
        (
            rf"Nothing better could be shown, nor ruled out: on {UNITS} it has {METRIC} "
            rf"{BASE}; {OTHERS}, (?P<first>.+?), has {VALUE}, which {SURE} \({CHANGE}, {P}, {CORRECTED}\)"
            r"(?P<followed>; .*)?\.$"
        ),
    ),
    (
        "_row_better",
        (
            rf"No choice of another one holds up: on {UNITS} (?P<first>.+?) takes {METRIC} from {BASE} to {VALUE}, "
            rf"{SURE} \({CHANGE}, {P}, {CORRECTED}\)(?P<little>, which is too little to matter)?(?P<followed>; .*)\.$"
        ),
    ),
    ("_highest", rf"On {UNITS} nothing that was compared has a higher {METRIC} than its {BASE}\.$"),
    ("_alike", rf"All that was compared ranks alike \((?P<metric>\S+) {BASE} on {UNITS}\)\.$"),
    (
        "_equal",
        (
            r"All vectors that are ranked have the same length, so both rank exactly alike "
            rf"\((?P<metric>\S+) {BASE} on {UNITS}\), and the dot product costs less to serve\.$"
        ),
    ),
    ("_few", rf"Nothing can be told: {UNITS} are too few to choose by \(it has (?P<metric>\S+) {BASE}\)\.$"),
)
FOLLOWED = (
    ("unsure", rf"; choosing by some (?P<unit>\w+) did not surely gain on others \({CHANGE}, {P}\)$"),
    ("loses", rf"; choosing by some (?P<unit>\w+) loses on others \({CHANGE}, {P}\)$"),
    (
        "gains",
        (
            rf"; choosing by some (?P<unit>\w+) gains on others \({CHANGE}, {P}\)"
            r"(?:, though all \w+ together choose (?P<back>.+))?$"
        ),
    ),
)
MEANINGS = {"recall": "share of what is relevant", "precision": "share of", "success": "share of queries with",
            "mrr": "how high the first right result stands", "full-recall": "share of queries with every",
            "answer-recall": "share of queries whose answer stands in", "exact-match": "share of questions",
            "answer-f1": "how many words", "pooled-ap": "quality of one ranking",
            "pooled-auc": "quality of one ranking", "spearman": "agreement", "pearson": "agreement",
            "kendall": "agreement", "knn": "share of queries whose class the first ten results vote for"}  # fmt: skip
DEPTHS = {1: "first result", 5: "first five results", 10: "first ten results", 100: "100"}


class ScorerReader(Reader):
    """Sentences on which scorer to use."""

    def scorer(self, sentence):
        """One sentence on which scorer to use."""
        if re.match(r"Use|Keep|Take|Stop", sentence):
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
        self.say(name != self.baseline.name, "uses a scorer instead of itself")
        used, by_index = self._used()
        others = (None, self.baseline, self.advice.choice.row)
        replaced = used if by_index and all(self.row(used) is not other for other in others) else None
        said = "dot" if match["used"] == "the dot product" else match["used"]
        self.say(said == replaced, f"replaces {said}, not {replaced}")
        if said is None:
            self._kept(match)
        self.say(self.advice.scorer.phrase == match["phrase"], "says something else of what it does")
        for complaint in index_complaints(match["index"], self.advice.scorer, pairs=self.unit == "pairs"):
            self.say(False, complaint)
        procedure, row = self.table.procedure, self.row(name)
        change = RISES.match(sentence, match.end())
        if change is None or row is None or (change["apart"] and procedure is None):
            self.say(False, "cannot be read")
            return
        whose = None if replaced is None else self.baseline.name
        self.say(change["whose"] == whose, "does not say from what it rises")
        if change["apart"]:
            numbers = (procedure.gain, procedure.low, procedure.high, procedure.p)
            self.say(procedure.name == name, "the procedure chooses something else")
            self.say(not change["corrected"], "nothing is corrected")
            self.often(change)
            self.say(change["all"] == (self.unit if change["often"] == "none" else None), "who chooses it after all?")
        else:
            numbers = (row.difference, row.difference_low, row.difference_high, row.p)
            self.say(bool(change["corrected"]) != row.planned, "says wrongly whether p is corrected")
            self.say(change["often"] is None, "a row is not chosen anew")
        self._measured_on(change)
        self.change(change, *numbers)
        gain, low, high, p = numbers
        self.say(shown(change["base"], self.baseline.value), "the baseline has another value")
        self.say(shown(change["value"], self.baseline.value + gain), "reaches another value")
        self.say(p < 0.05 and gain > 0, "it may be luck")
        self.certain(change["sure"], p)
        self.say(high >= self.table.worth, "recommends what cannot matter")
        if change["share"] is None and change["times"] is None:
            self.say(self.baseline.value <= 0, "does not say what it buys")
            return
        if change["share"] is not None:
            self.share(change["share"], gain / self.baseline.value)
            self.say(gain <= self.baseline.value, "is read in two ways")
            self._ends(change["ends"], low / self.baseline.value, high / self.baseline.value)
            return
        self.say(gain > self.baseline.value, "a share would do")
        for printed, value in (("times", gain), ("least", low), ("most", high)):
            times = 1 + value / self.baseline.value
            told = change[printed] is not None and abs(number(change[printed]) - times) < 0.051 * abs(times)
            self.say(told or not isfinite(times), "as many times as that?")

    def _ends(self, text, low, high):
        """The two ends of an interval, as shares, each called worse where it is a loss."""
        if text is None:
            self.say(not (isfinite(low) and isfinite(high)), "the ends are kept back")
            return
        ends = re.fullmatch(r"(.+?) %( worse)? and (.+?) %( better)?", text)
        self.say(ends is not None and bool(ends[2]) == bool(ends[4]) == (low < 0), "the ends cannot be read")
        if ends is not None:
            self.share(ends[1], abs(low))
            self.share(ends[3], high)

    def _measured_on(self, match):
        """On how many it was measured, who judged, and by what."""
        self.say(number(match["units"]) == self.units and match["unit"] == self.unit, "measured on others")
        made = bool(match["made"])
        self.say(made == bool(self.table.task.get("judgments_made")), "says wrongly who judged")
        self.say(match["metric"] == self.table.metric, "another metric")
        if match.groupdict().get("means") is not None:
            label, _, depth = self.table.metric.partition("@")
            self.say(match["means"].startswith(MEANINGS.get(label, "quality of the first")), "means something else")
            deep = depth and label not in ("mrr", "pooled-ap", "pooled-auc")
            self.say(not deep or DEPTHS[int(depth)] in match["means"], "of another depth")

    def _stop(self, match, sentence):
        row = self.row("dot" if match["name"] == "the dot product" else match["name"])
        used, by_index = self._used()
        self.say(used is not None and row is self.row(used), "something else is in use")
        self.say((match["who"] == "your index is set to") == by_index, "somebody else says so")
        self.say(self._loses(row), "it does not surely lose")
        why = re.fullmatch(
            rf"which (?:loses|reaches (?P<share>.+) % of {KEPT}'s (?P<metric>\S+)), {SURE}, {P}", match["why"]
        )
        self.say(why is not None, "cannot be read")
        if why is not None and row is not None:
            self.chance(why["p"], row.p)
            self.certain(why["sure"], row.p)
            if why["share"] is not None:
                self._kept(why)
                self.say(why["metric"] == self.table.metric, "another metric")
                self.share(why["share"], row.value / self.baseline.value)
        self.say(not match["or_dot"], "the dot product is as good")
        self._set(match)
        self._stay(sentence[match.end() :])

    def _keep(self, match, sentence):
        rest = sentence[match.end() :]
        self.say(bool(match["or_dot"]) == ("the same length" in rest), "another index")
        self._set(match)
        used, by_index = self._used()
        if "the same length" not in rest:
            row = self.row(used) if used is not None else None
            self.say(not self._loses(row), "says keep, though what is in use loses")
            other = by_index and row is not None and row is not self.baseline
            self.say((match["verb"] == "Take") == other, "says keep of what the index does not do, or the reverse")
        self._stay(rest)

    def _set(self, match):
        """What is kept, by its own name, and what the index must do for it."""
        self._kept(match)
        for complaint in index_complaints(match["index"], self.baseline.scorer, pairs=self.unit == "pairs"):
            self.say(False, complaint)

    def _kept(self, match):
        """What all are held against is called by its name: where vectors have two widths it is not cosine."""
        self.say(match["kept"] == self.baseline.name, f"{match['kept']} is not what all are held against")

    def _used(self):
        """What is in use, and whether an index says so: its setting, or else what the model declares."""
        index = self.case.deployment
        deployed = SCORER_OF.get(index.metric) if index is not None and index.made_for is None else None
        return (self.table.declared, False) if deployed is None else (deployed, True)

    def _loses(self, row):
        return row is not None and row.p is not None and self.enough and row.p < 0.05 and row.difference < 0

    def _stay(self, rest):
        """Why the baseline stays: exactly one of the reasons there are."""
        self._stays()
        matches = [(name, match) for name, pattern in REASONS if (match := re.match(pattern, rest))]
        self.say(len(matches) == 1, f"cannot be read in one way: {rest}")
        for name, match in matches:
            self.say(shown(match["base"], self.baseline.value), "the baseline has another value")
            self._measured_on(match)
            getattr(self, name)(match)
            if name in ("_unsure", "_row_better"):
                self._followed(match["followed"])

    def _stays(self):
        self.say(self.advice.name == self.baseline.name, f"keeps what all are held against, not {self.advice.name}")

    def _is_worth(self, text):
        self.say(abs(number(text) - self.worth) < 1e-3 * self.worth, f"{text} is not what is worth having")

    def _bound(self, match):
        most, bound = match["most"], self.table.most_to_gain
        self._is_worth(match["worth"])
        self._kept(match)
        self.say(bound < self.worth, "it may gain as much")
        words = {"nothing": bound == 0, "less than 0.0001": bound < 0.0001}
        self.say(words[most] if most in words else shown(most.removeprefix("at most "), bound), "another bound")
        self.say(self.enough, "certain of a handful")
        self._others(match)

    def _others(self, match):
        self.say(number(match["others"] or "1") == len(self.table.rows) - 1, "another number of scorers")

    def _small(self, match):
        procedure = self.table.procedure
        self.change(match, procedure.gain, procedure.low, procedure.high, procedure.p)
        self.say(procedure.p < 0.05 and procedure.gain > 0, "is not surely better")
        self.say(procedure.high < self.worth, "might matter")
        self.say(match["name"] == procedure.name != self.baseline.name, "names another scorer")
        self.often(match)
        self.say(shown(match["value"], self.baseline.value + procedure.gain), "reaches another value")
        self._is_worth(match["worth"])

    def _named_row(self, match):
        """The row that is named, whose change and p are printed."""
        row = self.row(match["first"])
        if row is None:
            self.say(False, f"there is no {match['first']}")
            return None
        self.change(match, row.difference, row.difference_low, row.difference_high, row.p)
        self.certain(match["sure"], row.p)
        self.say((match["corrected"] == "tested alone") == row.planned, "says wrongly whether p is corrected")
        self.say(shown(match["value"], self.baseline.value + row.difference), "reaches another value")
        return row

    def _surely(self):
        return [row for row in self.table.rows if row.p is not None and row.p < 0.05 and row.difference > 0]

    def _unsure(self, match):
        row = self._named_row(match)
        self.say(not self._surely(), "one is surely better")
        self.say(row is self.table.rows[0], "another comes first")
        self._others(match)

    def _row_better(self, match):
        row = self._named_row(match)
        self.say(row in self._surely() and self.enough, "is not surely better")
        little = row is not None and row.difference_high < self.worth
        self.say(bool(match["little"]) == little, "says wrongly whether it matters")

    def _followed(self, followed):
        """What choosing by some units brought on others, where that was tried."""
        procedure = self.table.procedure
        nothing = re.fullmatch(rf"; nothing could be chosen that gains {WORTH}", followed or "")
        if followed is None or nothing is not None:
            self.say(procedure is None, "keeps back what the choice gained")
            if nothing is not None:
                self._is_worth(nothing["worth"])
            return
        matches = [(state, match) for state, pattern in FOLLOWED if (match := re.match(pattern, followed))]
        self.say(len(matches) == 1 and procedure is not None, f"cannot be read in one way: {followed}")
        for state, match in matches:
            self.change(match, procedure.gain, procedure.low, procedure.high, procedure.p)
            sure = "gains" if procedure.gain > 0 else "loses"
            self.say(state == (sure if procedure.p < 0.05 else "unsure"), f"says that it {state}")
            self.say(match["unit"] == self.unit, "another unit")
            back = state == "gains" and procedure.name == self.baseline.name
            said = match.groupdict().get("back")
            self.say(said == (self.baseline.name if back else None), "says wrongly what is chosen")

    def _highest(self, _):
        higher = [row for row in self.table.rows if row.p is not None and row.difference > 0]
        self.say(not higher, "something has a higher value")

    def _alike(self, _):
        self.say(len(self.table.rows) == 1, "there is more than one")

    def _equal(self, _):
        self.say("dot" in self.baseline.same_ranking_as, "the dot product ranks otherwise")

    def _few(self, match):
        self.say(number(match["units"]) == self.units < FEWEST, "there are enough")

    def _no_choice(self, match, _):
        self._stays()
        self._kept(match)
        self.say((match["lacks"] or match["metric"]) == self.table.metric, "another metric")
        if match["lacks"]:
            self.say(not isfinite(self.baseline.value), "it has a value")
            self.say((number(match["units"]), match["unit"]) == (self.units, self.unit), "another number of units")
        else:
            self.say(shown(match["value"], self.baseline.value), "the baseline has another value")
            self.say(self.unit == "pairs" and self.baseline.high < 0, "it is not surely below zero")

    def _higher(self, match, _):
        best, row = self.row(match["best"]), self.row(self.advice.choice.row.name)
        self.say(best is not None and best.value > row.value, "it has no higher value")
        self.say(best is not None and shown(match["higher"], best.value), "it has another value")
        self.say(shown(match["value"], row.value) and match["name"] == self.advice.name, "another is recommended")
        if best is not None:
            self.between(match["p"], best, row)

    def _declared(self, match, _):
        row, chosen = self.row(match["declared"]), self.row(self.advice.choice.row.name)
        self.say(match["declared"] == self.table.declared and row is not None, "declares something else")
        self.say(row is not None and shown(match["value"], row.value), "reaches another value")
        self.say(match["name"] == self.advice.name, "another is recommended")
        self.say(row is not None and shown(match["gain"], chosen.value - row.value), "differs otherwise")
        self.say(match["metric"] == self.table.metric, "another metric")
        if row is not None:
            self.between(match["p"], chosen, row)
