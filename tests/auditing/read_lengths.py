"""Reads the sentences on what length carries, on the rule of symmetry, and on training."""

from __future__ import annotations

import re
from math import isfinite, isnan

from tests.auditing.reader import CHANGE, EFFECT, FEWEST, NUMBER, P, Reader, number, shown


class LengthReader(Reader):
    """Sentences on length: what it carries, what one expects of it, what to do with it in training."""

    def dot_sentence(self, sentence):
        """What the dot product does, in the words for it."""
        match = re.match(
            rf"(?P<words>.+?): the dot product, which lets it count, changes (?P<metric>\S+) by {CHANGE} against "
            rf"cosine \({P}\)\.?",
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
            r"Beside the rivals that cosine ranks near them (?:relevant ones are (?P<way>longer|shorter)|no difference "
            rf"was found) \({EFFECT}\)(?P<rest>.*?)(?=\. |\.$)",
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
        compared = row is not None and row.p is not None and isfinite(row.difference) and self.readable
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

    def expectation(self, sentence):
        """The rule of symmetry, and whether it holds here."""
        exchanged = "could be exchanged" in sentence
        self.say(exchanged == self.case.symmetric, "says wrongly whether sides could be exchanged")
        state, dot = self.dot_state(), self.row("dot")
        compared = dot is not None and dot.p is not None
        if "cannot be told from it" in sentence:
            undefined = compared and not isfinite(dot.difference)
            self.say(not compared or not self.readable or undefined, "it can be told")
            if "no usable value" in sentence:
                self.say(not self.readable, "cosine has a value")
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
