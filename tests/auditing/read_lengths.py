"""Reads the sentences on what length carries, on the rule of symmetry, and on training."""

from __future__ import annotations

import re
from math import isfinite, isnan

from tests.auditing.reader import CHANGE, EFFECT, FEWEST, NUMBER, P, Reader, number, shown

BARE = EFFECT.removeprefix("d = ")


class LengthReader(Reader):
    """Sentences on length: what it carries, what one expects of it, what to do with it in training."""

    def dot_sentence(self, sentence):
        """What the dot product does, in the words for it."""
        match = re.match(
            r"(?P<words>.+?): with the dot product, where it counts, (?P<metric>\S+) (?P<moves>rises|falls|goes) from "
            rf"cosine's (?P<base>{NUMBER}) to (?P<value>{NUMBER})(?:, (?P<sure>very sure|fairly sure|may be chance))? "
            rf"\({CHANGE}, {P}\)\.?",
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
        self.say(shown(match["base"], self.cosine.value) and shown(match["value"], dot.value), "from or to elsewhere")
        state = self.dot_state()
        self.say(match["moves"] == {"gains": "rises", "loses": "falls"}.get(state, "goes"), f"it {state}")
        self.say((match["sure"] is not None) == (state in ("gains", "loses")), "sure of it, or not?")
        if match["sure"] is not None:
            self.certain(match["sure"], dot.p)
        self.dot_words(match["words"])
        return match

    def dot_words(self, words):
        """The words for what length does fit the row of the dot product."""
        said = {
            "Vector length helps": "gains",
            "Vector length hurts": "loses",
            "Vector length makes no difference that matters": "equal",
            "Whether vector length helps cannot be told": "none",
        }.get(words)
        self.say(said == self.dot_state(), f"{words}, though it is: {self.dot_state()}")

    def relevance(self, sentence, *, told):
        """What is said of the vector lengths of relevant documents: one conclusion, and up to four effects."""
        match = re.search(r"(?P<words>Relevant documents (?:have|tend) [^(]*?) \((?P<all>.*)\)\.$",
                          sentence)  # fmt: skip
        if match is None:
            return told
        measured = self.case.shape.relevance
        self.say(self.enough, "certain of a handful")
        if measured is None:
            self.say(False, "speaks of relevance, which was not measured")
            return True
        covered = measured.relevant / (measured.relevant + measured.others) > 0.5
        self.say(not (measured.made and covered), "speaks of relevance by made judgments that cover the corpus")
        beside = measured.within_adjusted.d if measured.within_adjusted is not None else None
        ways = [
            *self.compared(match["all"], "against all others", measured.d, measured.d_adjusted),
            *self.compared(match["all"], "against those that cosine ranks near them", measured.within.d, beside),
        ]
        self.say(match["all"].count("d = ") == (ways[0] is not None) + (ways[2] is not None), "an effect too many")
        self.conclusion(match["words"], ways, measured, beside)
        return True

    def compared(self, text, against, raw, adjusted):
        """Read one comparison and the same at equal text length: which way each points; nothing where not defined."""
        match = re.search(rf"(?:^|; ){EFFECT} {against}(?P<fixed>, at equal text length {BARE})?(?=; |$)", text)
        if match is None:
            self.say(isnan(raw.value), "keeps back an effect")
            return [None, None]
        way = self.effect(match.groups()[:3], raw)
        if match["fixed"] is None:
            self.say(adjusted is None or isnan(adjusted.value), "keeps back the control")
            return [way, None]
        return [way, self.effect(match.groups()[4:7], adjusted)]

    def conclusion(self, words, ways, measured, beside):
        """The one conclusion is what the effects say together."""
        known = [way for way in ways if way is not None]
        sure = {way for way in known if way != "none"}
        because = re.fullmatch(
            r"Relevant documents have (longer|shorter) vectors only because of their text length", words
        )
        if because:
            drop = measured.d_drop
            takes = drop is not None and (drop.low > 0 or drop.high < 0) and drop.value * measured.d.value > 0
            still = beside is not None and beside.low is not None and (beside.low > 0 or beside.high < 0)
            self.say(ways[0] == because[1] and ways[1] == "none", "there is nothing in disguise")
            self.say(takes, "text length does not surely take from it")
            self.say(not still, "calls it a disguise while the adjusted effect beside rivals is sure")
            return
        fitting = {
            "Relevant documents have neither longer nor shorter vectors that one could see": not sure,
            "Relevant documents have longer vectors by one comparison and shorter ones by another": len(sure) == 2,
        }
        for way in ("longer", "shorter"):
            alone = sure == {way}
            fitting[f"Relevant documents have {way} vectors"] = alone and "none" not in known
            fitting[f"Relevant documents tend to have {way} vectors, though not by every comparison"] = (
                alone and "none" in known
            )
        self.say(fitting.get(words, False), f"{words!r} does not fit {ways}")

    def length(self, sentence):
        """The sentences on what length carries."""
        dot = self.dot_sentence(sentence)
        told = self.relevance(sentence, told=False)
        lengths = self.case.shape.lengths
        reason = re.search(
            r"(?:What vector length (?:is worth|carries) cannot be told|nothing can be said): (?P<why>.+)\.$", sentence
        )
        self.say(bool(dot or told or reason), "cannot be read")
        row = self.row("dot")
        compared = row is not None and row.p is not None and isfinite(row.difference) and self.readable
        self.say(bool(dot) or not compared, "keeps back what the dot product does")
        if reason:
            why, relevance = reason["why"], self.case.shape.relevance
            self.say(not told, "tells what cannot be told")
            self.say(self.unit != "pairs" or not dot, "pairs have no relevant documents")
            if "were normalised" in why:
                self.say(lengths[-1].variation < 1e-3, "lengths vary")
            elif "too few" in why:
                self.say(why.startswith(f"{self.units:,} {self.unit}") and not self.enough, "there are enough")
            elif "judgments were made" in why:
                counts = f"{relevance.relevant:,} of {relevance.relevant + relevance.others:,} documents"
                self.say(relevance.made and counts in why, "nobody made them")
            elif "dot product was not compared" in why:
                self.say(self.unit == "pairs" and not compared, "it was compared")
            elif "beside others" in why:
                self.say(isnan(relevance.d.value) and isnan(relevance.within.d.value), "keeps back an effect")
            else:
                self.say(relevance is None, f"it was measured: {why}")

    def expectation(self, sentence):
        """The rule of symmetry, and whether it holds here."""
        exchanged = "play the same role" in sentence
        self.say(exchanged or "play different roles" in sentence, "says nothing of the sides")
        self.say(sentence.startswith("The two sides of a pair") == (self.unit == "pairs"), "other sides")
        self.say(exchanged == self.case.symmetric, "says wrongly whether sides could be exchanged")
        state, dot = self.dot_state(), self.row("dot")
        compared = dot is not None and dot.p is not None
        if "cannot be told from this task" in sentence:
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
            "here it helps instead: believe the measurement.": "gains" if exchanged else None,
            "in these vectors, as they are, it does not.": None if exchanged else "loses",
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
        if "keep the document's vector length" in sentence:
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
