"""Reads sentences of a verdict as a person would and holds them against the raw numbers: it knows nothing of the rules.

What it reads are words and printed numbers; what it holds them against are rows, procedure, effects and hubs of a case.
"""

from __future__ import annotations

import re
from math import ceil, isfinite, isnan

from scipy.stats import norm

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

    # numbers

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

    # which scorer

    def scorer(self, sentence):
        """The sentences on which scorer to use."""
        made = "on judgments that are made, not human" in sentence
        first_of_all = re.match(r"Use|Keep|Stop", sentence)
        if first_of_all:
            self.say(made == bool(self.table.task.get("judgments_made")), "says wrongly who judged")
            self.say(self.cosine.value == self.cosine.value, "recommends by a metric without value")
        for pattern, read in (
            (r"Use (?P<name>.+?) instead of cosine: ", self._use),
            (r"Keep cosine", self._keep),
            (r"Stop using (?P<name>.+?), which this model declares, and take cosine \((?P<why>[^)]*)\)", self._stop),
            (r"Do not choose by this task: cosine has (?P<why>no|a) (?P<metric>\S+?):? ", self._no_choice),
            (
                rf"In the table (?P<best>.+) has a higher value \((?P<higher>{NUMBER}) against (?P<value>{NUMBER}) for "
                r"(?P<name>.+?)\)(?: \(p (?P<p>[=<] \S+) for these two alone\))?; the first of many rows is always a "
                r"little too good\.$",
                self._higher,
            ),
            (
                rf"The model declares (?P<declared>.+?), which reaches (?P<metric>\S+) (?P<value>{NUMBER}); (?P<name>.+?) "
                rf"differs from it by (?P<gain>{NUMBER})(?: \(p (?P<p>[=<] \S+) for these two alone\))?\.$",
                self._declared,
            ),
        ):
            match = re.match(pattern, sentence)
            if match:
                read(match, sentence)
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
                               rf"(?P<base>{NUMBER}) \({P}(?:, chosen in (?P<share>[\d.]+) % of (?P<tries>[\d,]+) tries)?\)",
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
            corrected = sum(not other.planned and other.p is not None for other in self.table.rows)
            self.say((change["rows"] is None) == row.planned, "says wrongly whether p is corrected")
            self.say(change["rows"] is None or number(change["rows"]) == corrected, "corrected for another number")
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

    def _stays(self):
        self.say(self.advice.name == "cosine", f"keeps cosine while {self.advice.name} is chosen")

    def _stop(self, match, sentence):
        row = self.row("dot" if match["name"] == "the dot product" else match["name"])
        self.say(self.case.declared is not None and row is self.row(self.case.declared), "declares something else")
        self.say(row is not None and self.enough and row.p < 0.05 and row.difference < 0, "it does not surely lose")
        why = re.fullmatch(rf"(?:it loses|it reaches (?P<share>\S+|less than 0.1) % of cosine's (?P<metric>\S+)), {P}",
                           match["why"])  # fmt: skip
        self.say(why is not None, "cannot be read")
        if why is not None and row is not None:
            self.chance(why["p"], row.p)
            if why["share"] is not None:
                self.share(why["share"], row.value / self.cosine.value)
        self._keep(match, sentence)

    def _keep(self, match, sentence):
        self._stays()
        rest = sentence[match.end() :].removeprefix(": ")
        table, procedure = self.table, self.table.procedure
        higher = [row for row in table.rows if row.p is not None and row.difference > 0]
        surely = [row for row in higher if row.p < 0.05]
        if re.match(r"Keep|Stop", sentence) and self.case.declared == "dot" and sentence.startswith("Keep"):
            dot = self.row("dot")
            lost = dot is not None and dot.p is not None and dot.p < 0.05 and dot.difference < 0 and self.enough
            special = "the same length" in rest
            self.say(not lost or special, "says keep, though the model declares what loses")
        bound = re.match(rf"no scorer gains as much as (?P<worth>\d+\.\d+) on its (\S+) of (?P<base>{NUMBER}) "
                         r"\(the best gains (?P<most>[^)]*)\)", rest)  # fmt: skip
        small = re.match(
            rf"(?P<name>.+) is better, but by too little to matter\. On (\w+) that took no part in the choice (\S+) "
            rf"changes by {CHANGE} from (?P<base>{NUMBER}) \({P}\), which is less than (?P<worth>\d+\.\d+)",
            rest,
        )
        unsure = re.match(
            rf"(?:of (?P<others>[\d,]+) other scorers none is|the other scorer is not) surely better than its (\S+) of "
            rf"(?P<base>{NUMBER})\. First comes (?P<first>.+?) with {CHANGE}, which may be luck \({P}, "
            r"(?:tested alone|corrected for (?P<rows>[\d,]+) rows?)\)",
            rest,
        )
        row_better = re.match(
            rf"(?:letting the tool choose changed (\S+) by .*? from (?P<base>{NUMBER}) \(p [^)]*\).*?|nothing could be "
            rf"chosen that gains (?P<worth>\d+\.\d+))\. In the table (?P<first>.+?) is better by {CHANGE} \({P}, (?:tested "
            r"alone|corrected for (?P<rows>[\d,]+) rows?)\)(?P<little>, which is too little to matter)?",
            rest,
        )
        highest = re.match(rf"nothing ranks better than its (\S+) of (?P<base>{NUMBER})", rest)
        alike = re.match(rf"all that was compared ranks alike \((\S+) (?P<base>{NUMBER})\)", rest)
        equal = re.match(r"all vectors that it ranks have the same length, so the dot product ranks exactly as it does "
                         rf"\((\S+) (?P<base>{NUMBER})\) and costs less to serve", rest)  # fmt: skip
        few = re.match(rf"(?P<units>[\d,]+) (\w+) are too few to choose by \(it has (\S+) (?P<base>{NUMBER})\)", rest)
        found = [match for match in (bound, small, unsure, row_better, highest, alike, equal, few) if match]
        self.say(len(found) == 1, f"cannot be read in one way: {rest}")
        for match in found:
            base = match["base"]
            self.say(base is None or shown(base, self.cosine.value), "cosine has another value")
        if bound:
            worth, most = number(bound["worth"]), bound["most"]
            self.say(abs(worth - table.worth) < 5e-4 * table.worth and table.most_to_gain < table.worth, "it may gain")
            good = {"nothing": table.most_to_gain == 0, "less than 0.0001": table.most_to_gain < 0.0001}
            at_most = most.removeprefix("at most ")
            self.say(good[most] if most in good else shown(at_most, table.most_to_gain), "another bound")
            self.say(self.enough, "certain of a handful")
        if small:
            self.change(small, procedure.gain, procedure.low, procedure.high, procedure.p)
            self.say(procedure.p < 0.05 and 0 < procedure.gain, "is not surely better")
            self.say(procedure.high < table.worth, "might matter")
            self.say(small["name"] == procedure.name != "cosine", "names another scorer")
            self.say(abs(number(small["worth"]) - table.worth) < 5e-4 * table.worth, "another worth")
        for match in filter(None, (unsure, row_better)):
            row = self.row(match["first"])
            if row is None:
                self.say(False, f"there is no {match['first']}")
                continue
            self.change(match, row.difference, row.difference_low, row.difference_high, row.p)
            corrected = sum(not other.planned and other.p is not None for other in table.rows)
            self.say((match["rows"] is None) == row.planned, "says wrongly whether p is corrected")
            self.say(match["rows"] is None or number(match["rows"]) == corrected, "corrected for another number")
        if unsure:
            self.say(not surely, "one is surely better")
            self.say(self.row(unsure["first"]) is table.rows[0], "another comes first")
            self.say(number(unsure["others"] or "1") == len(table.rows) - 1, "another number of scorers")
        if row_better:
            row = self.row(row_better["first"])
            self.say(row in surely and self.enough, "is not surely better")
            little = row is not None and row.difference_high < table.worth
            self.say(bool(row_better["little"]) == little, "says wrongly whether it matters")
        followed = re.search(rf"letting the tool choose changed (\S+) by {CHANGE}(?: from \S+)? \({P}\)([^;.]*)", rest)
        if followed:
            self.change(followed, procedure.gain, procedure.low, procedure.high, procedure.p)
            self.say(("may be luck" in followed[0]) <= (procedure.p >= 0.05), "it is hardly luck")
            back = "it chooses cosine" in followed[0]
            better = procedure.p < 0.05 and procedure.gain > 0
            self.say(back == (better and procedure.name == "cosine"), "says wrongly what is chosen")
        elif unsure or row_better:
            self.say(procedure is None, "keeps back what the choice gained")
        if highest:
            self.say(not higher, "something has a higher value")
        if alike:
            self.say(len(table.rows) == 1, "there is more than one")
        if equal:
            self.say("dot" in self.cosine.same_ranking_as, "the dot product ranks otherwise")
        if few:
            self.say(number(few["units"]) == self.units < FEWEST, "there are enough")

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

    # length

    def dot_sentence(self, sentence):
        """What the dot product does, in the words for it."""
        match = re.match(
            rf"(?P<words>.+?): the dot product, which lets it count, changes (?P<metric>\S+) by {CHANGE} against cosine "
            rf"\({P}\)\.?",
            sentence,
        )
        if match is None:
            return None
        dot = self.row("dot")
        if dot is None or dot.p is None:
            self.say(False, "the dot product was not compared")
            return match
        self.change(match, dot.difference, dot.difference_low, dot.difference_high, dot.p)
        self.say(match["metric"] == self.table.metric, "another metric")
        self.dot_words(match["words"])
        return match

    def dot_state(self):
        """Which of four the dot product is, from its row alone."""
        dot, worth = self.row("dot"), self.table.worth
        if dot is None or dot.p is None or not self.enough:
            return "none"
        if dot.difference_low > -worth and dot.difference_high < worth:
            return "equal"
        if dot.p < 0.05 and dot.difference:
            return "gains" if dot.difference > 0 else "loses"
        return "none"

    def dot_words(self, words):
        """The words for what length does fit the row of the dot product."""
        said = {
            "Length helps": "gains",
            "Length hurts as it stands": "loses",
            "Length makes no difference that matters": "equal",
            "Whether length helps cannot be told": "none",
        }.get(words)
        self.say(said == self.dot_state(), f"{words}, though it is: {self.dot_state()}")

    def relevance(self, sentence, *, told):
        """What is said of the lengths of relevant documents."""
        measured = self.case.shape.relevance
        corpus = re.search(
            r"(?:Relevant documents have (?P<way>longer|shorter) vectors than others|Between the lengths of relevant "
            rf"documents and others no difference was found) \({EFFECT}\)(?P<rest>.*?)(?=\. |\.$)",
            sentence,
        )
        rivals = re.search(
            r"Beside the rivals that cosine ranks near them (?:relevant ones are (?P<way>longer|shorter)|no difference was "
            rf"found) \({EFFECT}\)(?P<rest>.*?)(?=\. |\.$)",
            sentence,
        )
        if not corpus and not rivals:
            return told
        self.say(self.enough, "certain of a handful")
        if measured is None:
            self.say(False, "speaks of relevance, which was not measured")
            return True
        covered = measured.relevant / (measured.relevant + measured.others) > 0.5
        self.say(not (measured.made and covered), "speaks of relevance by made judgments that cover the corpus")
        beside = measured.within_adjusted.d if measured.within_adjusted is not None else None
        left = None
        for match, raw, adjusted in (
            (corpus, measured.d, measured.d_adjusted),
            (rivals, measured.within.d, beside),
        ):
            if match is None:
                self.say(isnan(raw.value), "keeps back an effect")
                continue
            way = self.effect(match.groups()[1:4], raw)
            self.say((match["way"] or "none") == way, f"says {match['way']}, though it is {way}")
            left = self.held_fixed(match["rest"], way, adjusted)
            if "in disguise" in match["rest"]:
                drop = measured.d_drop
                takes = drop is not None and (drop.low > 0 or drop.high < 0) and drop.value * raw.value > 0
                still = beside is not None and beside.low is not None and (beside.low > 0 or beside.high < 0)
                self.say(match is corpus and way != "none" and left == "none", "there is nothing in disguise")
                self.say(takes, "text length does not surely take from it")
                self.say(not still, "calls it a disguise while the adjusted effect beside rivals is sure")
        return True

    def held_fixed(self, rest, way, adjusted):
        """What is said of an effect with text length held fixed; what the numbers say of it."""
        if not rest:
            self.say(adjusted is None or isnan(adjusted.value), "keeps back the control")
            return None
        match = re.search(rf"\({EFFECT}\)$", rest)
        left = self.effect(match.groups(), adjusted) if match else None
        words = re.sub(r" \(d = .*", "", rest)
        other = {"longer": "shorter", "shorter": "longer"}.get(way)
        fitting = {
            ", also with text length held fixed": way != "none" and left == way,
            f"; with text length held fixed the sign turns: they are {other}": way != "none" and left == other,
            ", but that is text length in disguise: with it held fixed no difference is found": left == "none",
            "; with text length held fixed that cannot be told from chance": way != "none" and left == "none",
            ", nor with text length held fixed": way == left == "none",
            "; with text length held fixed relevant ones are longer": way == "none" and left == "longer",
            "; with text length held fixed relevant ones are shorter": way == "none" and left == "shorter",
        }
        self.say(fitting.get(words, False), f"{words!r} does not fit {way} and {left}")
        return left

    def length(self, sentence):
        """The sentences on what length carries."""
        dot = self.dot_sentence(sentence)
        told = self.relevance(sentence, told=False)
        lengths = self.case.shape.lengths
        reason = re.search(r"(?:What length (?:is worth|carries) cannot be told|nothing can be said): (?P<why>.+)\.$",
                           sentence)  # fmt: skip
        self.say(bool(dot or told or reason), "cannot be read")
        row = self.row("dot")
        readable = not (self.unit == "pairs" and self.cosine.high < 0) and isfinite(self.cosine.value)
        compared = row is not None and row.p is not None and isfinite(row.difference) and readable
        self.say(bool(dot) or not compared, "keeps back what the dot product does")
        if reason:
            why, relevance = reason["why"], self.case.shape.relevance
            self.say(not told, "tells what cannot be told")
            if "were normalised" in why:
                self.say(lengths[-1].variation < 1e-3, "lengths vary")
            elif "too few" in why:
                self.say(why.startswith(f"{self.units:,} {self.unit}") and not self.enough, "there are enough")
            elif "judgments were made" in why:
                counts = f"{relevance.relevant:,} of {relevance.relevant + relevance.others:,} documents"
                self.say(relevance.made and counts in why, "nobody made them")
            elif "beside others" in why:
                self.say(isnan(relevance.d.value) and isnan(relevance.within.d.value), "keeps back an effect")
            else:
                self.say(relevance is None, f"it was measured: {why}")

    # expectation, training, warnings

    def expectation(self, sentence):
        """The rule of symmetry, and whether it holds here."""
        exchanged = "could be exchanged" in sentence
        self.say(exchanged == self.case.symmetric, "says wrongly whether sides could be exchanged")
        state, dot = self.dot_state(), self.row("dot")
        compared = dot is not None and dot.p is not None
        if "cannot be told from it" in sentence:
            readable = isfinite(self.cosine.value) and not (self.unit == "pairs" and self.cosine.high < 0)
            undefined = compared and not isfinite(dot.difference)
            self.say(not compared or not readable or undefined, "it can be told")
            if "no usable value" in sentence:
                self.say(not readable, "cosine has a value")
            elif "were normalised" in sentence:
                self.say(self.case.shape.lengths[-1].variation < 1e-3, "lengths vary")
            return
        few = re.search(r"; ([\d,]+) (\w+) are too few to tell\.$", sentence)
        if few:
            self.say(number(few[1]) == self.units < FEWEST and few[2] == self.unit, "there are enough")
            return
        self.say(compared and self.enough, "nothing was compared, or too few")
        end = sentence.partition("; ")[2]
        expected = {
            "here it does.": "loses" if exchanged else "gains",
            "here it is the other way round. Believe the measurement.": "gains" if exchanged else None,
            "the lengths of these vectors do not help as they are.": "loses",
            "here it makes no difference that matters.": "equal",
            "here no difference was found.": "none",
        }
        self.say(end in expected and expected[end] == state, f"{end!r}, though it is: {state}")

    def training(self, sentence):
        """What to do in training."""
        if "normalise both sides:" in sentence:
            self.say(self.case.symmetric, "the sides have roles")
            return
        self.say(not self.case.symmetric, "the sides could be exchanged")
        state, relevance = self.dot_state(), self.case.shape.relevance
        dot = self.row("dot")
        changes = re.search(rf"the dot product changes (\S+) by ({NUMBER})\)", sentence)
        if changes:
            self.say(dot is not None and shown(changes[2], dot.difference), "the dot product changes it otherwise")
        if "keep the document's length" in sentence:
            self.say(state == "gains" and "helps already" in sentence, f"keeps a length that: {state}")
        elif "as they stand these lengths lose" in sentence:
            self.say(state == "loses", f"it is: {state}")
        else:
            self.say(state != "gains", "does not say that length helps")
        rivals = re.search(
            rf"beside rivals relevant documents are (longer|shorter|not surely longer) \({EFFECT}\)", sentence
        )
        if rivals:
            self.say(self.enough, "certain of a handful")
            covered = relevance.relevant / (relevance.relevant + relevance.others) > 0.5
            self.say(not (relevance.made and covered), "speaks of relevance by made judgments that cover the corpus")
            way = self.effect(rivals.groups()[1:4], relevance.within.d)
            self.say({"not surely longer": "none"}.get(rivals[1], rivals[1]) == way, f"says {rivals[1]}, it is {way}")
        readable = re.search("keep the document|lengths lose|beside rivals|do not say whether length helps", sentence)
        self.say(readable is not None, "cannot be read")

    def wrong(self, sentence):
        """What to mind."""
        dot, shape, table = self.row("dot"), self.case.shape, self.table
        collapse = re.match(
            rf"(The dot product|Cosine) keeps only (\S+|less than 0\.1) % of what .*? finds \({P}\)", sentence
        )
        made_for = re.match(rf"The model was made for cosine: .* loses ({NUMBER}) of (\S+) \({P}\)", sentence)
        hubs = re.match(
            r"Hubs under (?P<scorer>.+?): (?P<hubs>[\d,]+) of (?P<documents>[\d,]+) documents are among the (?P<k>\d+) "
            r"nearest of (?P<lists>\d+) queries or more, where chance gives (?P<chance>hardly any|[\d,.]+); the worst, "
            r"(?P<worst>.*), of (?P<worst_lists>[\d,]+) \(of (?P<queries>[\d,]+) queries\)\.$",
            sentence,
        )
        rogue = re.match(r"A rogue dimension on the (\w+) side: dimension (\d+) makes (\S+) % of the mean cosine of "
                         rf"({NUMBER})\.", sentence)  # fmt: skip
        few = re.match(r"([\d,]+) (\w+) are too few to tell anything", sentence)
        more = re.match(
            rf"([\d,]+) (\w+) are too few to be sure: if letting the tool choose really gains ({NUMBER}), about ([\d,]+) \w+ "
            r"would show it in four of five tries\.$",
            sentence,
        )
        bias = re.match(r"With (.+) every document gets a number", sentence)
        same = sentence.startswith("Every length is the same")
        self.say(any((collapse, made_for, hubs, rogue, few, more, bias, same)), "cannot be read")
        if collapse:
            lost, kept = (self.cosine, dot) if collapse[1] == "The dot product" else (dot, self.cosine)
            self.say(self.enough and dot.p < 0.05 and kept.value < 0.5 * lost.value, "nothing surely collapses")
            self.share(collapse[2], max(kept.value, 0) / lost.value)
            self.chance(collapse["p"], dot.p)
            self.say(self.advice.name != ("dot" if kept is dot else "cosine"), "recommends what collapses")
        if made_for:
            self.say(self.case.declared == "cosine" and self.dot_state() == "loses", "it does not lose")
            self.say(shown(made_for[1], -dot.difference), "it loses something else")
            self.chance(made_for["p"], dot.p)
        if hubs:
            row = next(row for row in shape.hubness if row.scorer == hubs["scorer"])
            counts = (row.hub_count, row.documents, row.k, 2 * row.k, row.worst[0].occurrences, row.queries)
            names = ("hubs", "documents", "k", "lists", "worst_lists", "queries")
            said = tuple(number(hubs[name]) for name in names)
            self.say(said == counts, f"{said} is not {counts}")
            self.say(hubs["worst"] == repr(row.worst[0].id), "another is the worst")
            expected = row.chance["hubs"]
            by_chance = 0.0 if hubs["chance"] == "hardly any" else number(hubs["chance"])
            self.say(abs(by_chance - expected) <= 0.05 + 0.05 * expected, "chance gives another number")
            self.say(row.hub_count > max(by_chance, expected), "chance makes as many")
        if rogue:
            side = next(side for side in shape.dimensions if side.side == rogue[1])
            self.share(rogue[3], side.contributions[0] / side.mean_cosine)
            self.say(int(rogue[2]) == side.order[0] and shown(rogue[4], side.mean_cosine, 2), "another dimension")
            self.say(side.contributions[0] > 0.5 * side.mean_cosine, "it does not make most of it")
        if few:
            self.say(number(few[1]) == self.units < FEWEST and few[2] == self.unit, "there are enough")
        if more:
            procedure = table.procedure
            error = (procedure.high - procedure.low) / (2 * norm.ppf(0.975))
            needed = ceil(self.units * ((norm.ppf(0.975) + norm.ppf(0.8)) * error / procedure.gain) ** 2)
            self.say(number(more[1]) == self.units and shown(more[3], procedure.gain), "other numbers")
            self.say(abs(number(more[4]) - needed) <= 1 + 1e-4 * needed, f"{more[4]} is not {needed}")
            self.say(procedure.gain >= table.worth, "nobody needs such a gain")
            self.say(not (procedure.p < 0.05) and needed > self.units >= FEWEST, "it is sure already")
            self.say(self.advice.name == "cosine", "it is chosen already")
        if bias:
            self.say(bias[1] == self.advice.name and self.advice.scorer.bias is not None, "it has no bias")
        if same:
            self.say(shape.lengths[-1].variation < 1e-3, "lengths vary")


def grammar(sentence, names=()):
    """What is ugly in a sentence; names are not ours to mend."""
    text = re.sub(r"the worst, .*, of ", "the worst, x, of ", sentence)
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, "x")
    complaints = [f"{bad!r} in it" for bad in ("  ", "..", "[]", " ,", " .", "()", "--", ";;") if bad in text]
    complaints += [f"{bad} in it" for bad in re.findall(r"\b(?:nan|None|inf|True|False)\b", text)]
    complaints += [f"{a}{b} do not pair" for a, b in ("()", "[]") if text.count(a) != text.count(b)]
    parts = re.split(r"\. (?=\D)", text)
    complaints += [f"{part[:20]!r} starts small" for part in parts if not (part[0].isupper() or part[0].isdigit())]
    return complaints + ([] if text.endswith(".") else ["no full stop"])


def fields(finding):
    """What direction and certainty say against the words."""
    words, state = finding.sentence, (finding.direction, finding.certainty)
    rules = (
        (r"hardly luck", {("up", "sure")}),
        (r"^Length helps", {("up", "sure")}),
        (r"^Length hurts", {("down", "sure")}),
        (r"^Length makes no difference", {("none", "equal")}),
        (r"^Whether length helps cannot be told", {("none", "unsure")}),
        (r"no scorer gains as much|the same length|ranks alike", {("none", "equal")}),
        (r"too little to matter\. On", {("up", "equal")}),
        (r"which may be luck|nothing ranks better", {("none", "unsure")}),
        (r"Do not choose|too few to choose|^What length", {("none", "unknown")}),
        (r"here it does", {("up", "sure"), ("down", "sure")}),
        (r"other way round", {("up", "sure")}),
        (r"do not help as they are", {("down", "sure")}),
        (r"here no difference was found", {("none", "unsure")}),
        (r"too few to tell\.$|cannot be told from it", {("none", "unknown")}),
        (r"keep the document's length", {("up", "sure")}),
        (r"start with both sides normalised", {("none", "unsure")}),
        (r"too few to be sure", {("none", "unsure")}),
    )
    return [f"{state} for {pattern}" for pattern, states in rules if re.search(pattern, words) and state not in states]


def complaints_on(finding, case, advice):
    """Everything that is wrong with one finding."""
    reader = Reader(case, advice)
    names = [name for row in case.table.rows for name in (row.name, row.scorer.name)]
    sentence = finding.sentence
    if finding.certainty == "sure" and not reader.enough and finding.topic != "training":
        descriptive = re.match(r"[\d,]+ \w+ are too few|A rogue|Every length|Hubs", sentence)
        reader.say(descriptive is not None, "certain of a handful")
    getattr(reader, finding.topic)(sentence)
    return [*grammar(sentence, names), *fields(finding), *reader.complaints]


def complaints_of(case, advice=None):
    """Everything that is wrong with what is said of a case, by ``audit`` and by ``compare``."""
    advice = advice if advice is not None else case.advice
    found = []
    for finding in [*advice.findings, *case.table.findings]:
        found += [f"{finding.sentence}\n  {complaint}" for complaint in complaints_on(finding, case, advice)]
    firsts = [next(f.sentence for f in advice.findings if f.topic == t) for t in ("scorer", "length", "expectation")]
    if list(advice.verdict) != firsts:
        found.append("the verdict is not scorer, length, expectation")
    if case.table.findings[0].sentence != advice.verdict[0] and case.table.declared == case.declared:
        found.append("compare and audit say different things")
    if case.table.chosen is not advice.choice.row:
        found.append("compare and audit choose different rows")
    return found
