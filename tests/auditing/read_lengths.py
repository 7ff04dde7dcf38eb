"""Reads the sentences on what length carries, on the rule of symmetry, and on training."""

from __future__ import annotations

import re
from math import isfinite, isnan

from tests.auditing.reader import CHANGE, EFFECT, FEWEST, NORMALISED, NUMBER, P, Reader, number, shown

BARE = EFFECT.removeprefix("d = ")
RELEVANT = re.compile(r" ?(?P<words>Relevant documents (?:have|tend) [^(]*?) \((?P<all>.*)\)\.$")
REASON = re.compile(
    r"(?:(?P<alone>What vector length (?:is worth|carries) cannot be told)|"
    r" Of the vector lengths of relevant documents nothing can be said): (?P<why>.+)\.$"
)
EXPECTATION = re.compile(
    r"(?P<sides>The two sides of a pair|Query and document) play (?P<role>the same role|different roles)"
    r"(?:, where vector length (?P<rule>can help a model that was trained to use it|is expected to hurt))?; "
    r"(?:(?P<few>[\d,]+) (?P<unit>\w+) are too few to tell|whether vector length helps cannot be told from this task: "
    rf"(?P<why>{NORMALISED}|the dot product was not compared with cosine, or ranks as it does|"
    r"(?P<who>.+?) itself has no usable value on it)|(?P<end>here it does|"
    r"here it helps instead: believe the measurement|in these vectors, as they are, it does not|here it makes no "
    r"difference that matters|here no difference was found))\.$"
)
CHANGES = rf"\(the dot product changes (?P<metric>\S+) by (?P<change>{NUMBER})\)"
LONGER = rf"\(d = (?P<d>{NUMBER})(?: \[(?P<d_low>{NUMBER}), (?P<d_high>{NUMBER})\])?\)"
TRAINING = (
    (
        "both",
        (
            r"If you fine-tune, normalise both sides: on a symmetric task a one-sided score depends on the order of "
            r"the pair \(Spearman on STS-B 0\.788 for cosine against 0\.413 and 0\.371 one-sided, Feng & Watanabe "
            r"2026\)\.$"
        ),
    ),
    (
        "keep",
        (
            r"If you fine-tune, normalise the query only and keep the document's vector length: it helps already "
            rf"{CHANGES}(?:, and beside rivals relevant documents are (?P<are>longer) {LONGER})?\.$"
        ),
    ),
    (
        "start",
        (
            r"If you fine-tune, start with both sides normalised: (?:as they stand these lengths "
            rf"(?P<lengths>lose|make no difference that matters) {CHANGES}|these vectors do not say whether length "
            rf"helps|beside rivals relevant documents are (?P<are>longer|shorter|not surely longer) {LONGER}"
            r"(?P<but>, but letting length count does not surely help)?); what training could make of length is "
            r"another matter \(Feng & Watanabe 2026 report BRIGHT nDCG@10 7\.4 with cosine and 12\.7 with "
            r"only the query normalised\), so try the query side alone as the second run\.$"
        ),
    ),
)


class LengthReader(Reader):
    """Sentences on length: what it carries, what one expects of it, what to do with it in training."""

    def dot_sentence(self, sentence):
        """What the dot product does, in the words for it."""
        match = re.match(
            r"(?P<words>.+?): with the dot product, which lets it count, (?P<metric>\S+) "
            rf"(?P<moves>rises|falls|goes) from cosine's (?P<base>{NUMBER}) to (?P<value>{NUMBER})"
            rf"(?:, (?P<sure>very sure|fairly sure|may be chance))? \({CHANGE}, {P}\)\.?",
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
        self.say(shown(match["base"], self.baseline.value) and shown(match["value"], dot.value), "from or to elsewhere")
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

    def relevance(self, sentence):
        """What is said of the vector lengths of relevant documents: one conclusion, and up to four effects."""
        match = RELEVANT.match(sentence)
        if match is None:
            return False
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
        """The sentences on what length carries, read to the end."""
        dot = self.dot_sentence(sentence)
        rest = sentence[dot.end() :] if dot else sentence
        told = self.relevance(rest.removeprefix(" ")) if RELEVANT.match(rest) else False
        reason = REASON.match(rest)
        self.say(bool(dot or told or reason), "cannot be read")
        self.say(bool(told or reason) or (dot is not None and not rest), f"cannot be read to the end: {rest}")
        row = self.row("dot")
        compared = row is not None and row.p is not None and isfinite(row.difference) and self.readable
        self.say(bool(dot) or not compared, "keeps back what the dot product does")
        if reason:
            self.say((reason["alone"] is None) == (dot is not None), "nothing of which?")
            self.say(self.unit != "pairs" or not dot, "pairs have no relevant documents")
            self._why(reason["why"], compared)

    def _why(self, why, compared):
        """The reason why nothing can be told is one that there is, and is read whole."""
        relevance = self.case.shape.relevance
        if why == NORMALISED:
            self.say(self.case.shape.lengths[-1].variation < 1e-3, "lengths vary")
        elif why == f"{self.units:,} {self.unit} are too few":
            self.say(not self.enough, "there are enough")
        elif why == "the dot product was not compared":
            self.say(self.unit == "pairs" and not compared, "it was compared")
        elif why == "no relevant documents stand beside others":
            self.say(isnan(relevance.d.value) and isnan(relevance.within.d.value), "keeps back an effect")
        elif why in ("it was not measured", "that needs a ranking task, with queries, documents and judgments"):
            self.say(relevance is None, f"it was measured: {why}")
        else:
            documents = relevance.relevant + relevance.others
            counts = f"{relevance.relevant:,} of {documents:,} documents are relevant to something"
            made = relevance.made and relevance.relevant > 0.5 * documents
            self.say(why == f"the judgments were made, and {counts}" and made, f"nobody knows: {why}")

    def expectation(self, sentence):
        """The rule of symmetry, and whether it holds here."""
        match = EXPECTATION.match(sentence)
        self.say(match is not None, "cannot be read")
        if match is None:
            return
        exchanged = match["role"] == "the same role"
        self.say((match["sides"] == "The two sides of a pair") == (self.unit == "pairs"), "other sides")
        self.say(exchanged == self.case.symmetric, "says wrongly whether sides could be exchanged")
        self.say(
            (match["rule"] is None) == (match["why"] is not None), "a rule without a measurement, or none with one"
        )
        self.say(match["rule"] is None or (match["rule"] == "is expected to hurt") == exchanged, "another rule")
        state, dot = self.dot_state(), self.row("dot")
        compared = dot is not None and dot.p is not None
        if match["why"] is not None:
            undefined = compared and not isfinite(dot.difference)
            self.say(not compared or not self.readable or undefined, "it can be told")
            if match["who"] is not None:
                self.say(match["who"] == self.baseline.name and not self.readable, "it has a value")
            elif match["why"] == NORMALISED:
                self.say(self.case.shape.lengths[-1].variation < 1e-3, "lengths vary")
            return
        if match["few"] is not None:
            self.say(number(match["few"]) == self.units < FEWEST and match["unit"] == self.unit, "there are enough")
            return
        self.say(compared and self.enough, "nothing was compared, or too few")
        expected = {
            "here it does": "loses" if exchanged else "gains",
            "here it helps instead: believe the measurement": "gains" if exchanged else None,
            "in these vectors, as they are, it does not": None if exchanged else "loses",
            "here it makes no difference that matters": "equal",
            "here no difference was found": "none",
        }
        self.say(expected[match["end"]] == state, f"{match['end']!r}, though it is: {state}")

    def training(self, sentence):
        """What to do in training."""
        matches = [(name, match) for name, pattern in TRAINING if (match := re.match(pattern, sentence))]
        self.say(len(matches) == 1, "cannot be read in one way")
        for name, match in matches:
            self.say((name == "both") == self.case.symmetric, "the sides could be exchanged, or not?")
            if name != "both":
                self._train(name, match.groupdict())

    def _train(self, name, read):
        state, relevance, dot = self.dot_state(), self.case.shape.relevance, self.row("dot")
        if read["change"] is not None:
            changed = dot is not None and shown(read["change"], dot.difference)
            self.say(changed and read["metric"] == self.table.metric, "the dot product changes it otherwise")
        said = {"lose": "loses", "make no difference that matters": "equal"}.get(read.get("lengths"), "none")
        self.say((state == "gains") if name == "keep" else (said == state), f"it is: {state}")
        if read["are"] is None:
            return
        self.say(self.enough, "certain of a handful")
        covered = relevance.relevant / (relevance.relevant + relevance.others) > 0.5
        self.say(not (relevance.made and covered), "speaks of relevance by made judgments that cover the corpus")
        way = self.effect((read["d"], read["d_low"], read["d_high"]), relevance.within.d)
        self.say({"not surely longer": "none"}.get(read["are"], read["are"]) == way, f"says {read['are']}, it is {way}")
        self.say(name == "keep" or (read["but"] is not None) == (way == "longer"), "but what?")
