"""Reads the sentences on what documents alone can tell."""

from __future__ import annotations

import re

from tests.auditing.reader import CHANGE, NUMBER, P, Reader, shown

WORDS = {
    "a boost by popularity": "prior",
    "a cut for nearness to any query": "correction",
    "a boost learned for each document": "bias",
    "a factor learned for each document": "weight",
    "a boost by vector length": "length",
}
GAIN = rf"{CHANGE} of (?P<metric>\S+) over cosine \((?P<sure>[a-z ]+), {P}\)"
ANONYMOUS = re.sub(r"\?P<\w+>", "?:", GAIN)
NATURE = {"What other queries want is wanted again": "prior", "are near to queries of every kind": "correction"}
NOT_ADVISED = (
    (
        ("prior", "bias", "weight"),
        "It is not recommended, since it takes judgments or clicks and knows only documents ",
    ),
    (("correction",), "Among the rows of compare nnn and csls do this"),
    (("length",), "Among the rows of compare --more several do this"),
)


PIECES = (  # all that any of these sentences is made of, so that no words stand there unread
    r"^Do not look for a boost per document: none",
    rf" gains more than {NUMBER} of \S+ over cosine, and the smallest gain that matters is {NUMBER}\.",
    r"^Vector length (?:could serve|serves) as a boost per document: ",
    r"^A boost per document would gain(?:, where there are judgments or clicks)?: ",
    r"^Whether a boost per document would help cannot be told: the best, ",
    rf"(?:{'|'.join(WORDS)}),? gains {ANONYMOUS}(?:, and no other boost gains more)?\.",
    rf"Vector length holds (?:a part of that gain|nothing of it that one could see): {ANONYMOUS}\.",
    r"All vectors have the same length, which holds nothing of that\.",
    r"It is not recommended, since it takes judgments or clicks and knows only documents that other queries have met\.",
    r"Among the rows of compare nnn and csls do this\.",
    r"Among the rows of compare --more several do this\.",
    r"That is no gain on top of the dot product, which lets it count already\.",
    r"What other queries want is wanted again \(popularity\)\.",
    r"Some documents are near to queries of every kind \(hubs\)\.",
    r"Popularity cannot be learned here: \S+(?: than 0\.1)? % of the judgments are for a document that another ",
    r"query wants too\.",
)


class CeilingReader(Reader):
    """Sentences on what is to be had from documents alone, held against the rows of the measurement."""

    def ceiling(self, sentence):
        """One sentence: which of the five it is, its numbers, and what follows it."""
        measured = self.case.shape.ceiling
        self.rows = {row.kind: row for row in measured.rows}
        self.sure = {kind for kind, row in self.rows.items() if row.p < 0.05 and row.gain.value > 0}
        self.most = measured.most
        self.say(self.enough, "a handful of queries proves nothing")
        read = {
            "Do not look for a boost": self._stop,
            "Vector length could serve": self._held,
            "Vector length serves": self._held,
            "A boost per document would gain": self._gains,
            "Whether a boost per document": self._unclear,
        }
        readers = [reader for start, reader in read.items() if sentence.startswith(start)]
        self.say(len(readers) == 1, "cannot be read in one way")
        for reader in readers:
            reader(sentence)
        self._after(sentence)
        left = sentence
        for piece in PIECES:
            left = re.sub(piece, "", left, count=1)
        self.say(not re.search(r"\w", left), f"nobody has read: {left}")

    def _stop(self, sentence):
        match = re.match(
            rf".*none gains more than ({NUMBER}) of (\S+) over cosine, and the smallest gain that matters is "
            rf"({NUMBER})\.",
            sentence,
        )
        self.say(shown(match[1], self.most) and match[2] == self.table.metric, f"{match[1]} is not {self.most}")
        self.say(abs(float(match[3]) - self.worth) <= 1e-3 * self.worth, "another gain matters")
        self.say(self.most < self.worth, "there may be something that matters")

    def _held(self, sentence):
        self.say("length" in self.sure, "lengths do not surely gain")
        self._gain(
            re.search(rf"a boost by vector length gains {GAIN}, and no other boost gains more", sentence), "length"
        )
        by_dot = self.advice.choice.row is self.row("dot")
        self.say(sentence.startswith("Vector length serves") == by_dot, "it serves already, or not yet")
        self.say(("no gain on top of the dot product" in sentence) == by_dot, "on top of what is recommended?")
        self._advised(sentence, None if by_dot else "length")
        better = [kind for kind in self.sure if self.rows[kind].gain.value > self.rows["length"].gain.value]
        self.say(not better, "something else gains more")

    def _gains(self, sentence):
        kind = self._best(
            re.match(
                r"A boost per document would gain(?P<needed>, where there are judgments or clicks)?: "
                rf"(?P<kind>.*?) gains {GAIN}\.",
                sentence,
            )
        )
        self._advised(sentence, kind)
        part = re.search(rf"Vector length holds a part of that gain: {GAIN}", sentence)
        nothing = re.search(rf"Vector length holds nothing of it that one could see: {GAIN}", sentence)
        equal = "All vectors have the same length, which holds nothing of that" in sentence
        self.say(bool(part) + bool(nothing) + equal == 1, "what lengths hold cannot be read in one way")
        self.say(equal == ("length" not in self.rows), "a boost by length is made up, or kept back")
        if part or nothing:
            self.say(bool(part) == ("length" in self.sure), "lengths surely gain, or do not")
            self._gain(part or nothing, "length")
        if part:
            self.say(self.rows[kind].gain.value >= self.rows["length"].gain.value, "lengths gain more")

    def _advised(self, sentence, kind):
        """Why it is not what the verdict says to use: the reason of its kind, and no other."""
        for kinds, words in NOT_ADVISED:
            self.say((words in sentence) == (kind in kinds), f"{words!r} of {kind}")

    def _unclear(self, sentence):
        self.say(not self.sure, "something surely gains")
        match = re.match(rf".*cannot be told: the best, (?P<kind>.*?), gains {GAIN}\.", sentence)
        self._gain(match, WORDS[match["kind"]])
        self.say(self.most >= self.worth, "nothing that matters is left")

    def _best(self, match):
        """A kind that surely gains, and the most of all such."""
        kind = WORDS[match["kind"]]
        self.say(kind in self.sure, f"{kind} does not surely gain")
        self.say(all(self.rows[kind].gain.value >= self.rows[other].gain.value for other in self.sure), "not the best")
        self._gain(match, kind)
        return kind

    def _gain(self, match, kind):
        row = self.rows[kind]
        self.change(match, row.gain.value, row.gain.low, row.gain.high, row.p)
        self.say(match["metric"] == self.table.metric, "another metric")
        self.certain(match["sure"], row.p)

    def _after(self, sentence):
        """Prior or correction, and whether anything is wanted twice."""
        said = [kind for words, kind in NATURE.items() if words in sentence]
        for kind in said:
            self.say(kind in self.sure, f"it is no {kind}")
        natures = [kind for kind in ("prior", "correction") if kind in self.sure]
        if sentence.startswith(("Vector length could", "Vector length serves", "A boost per document would gain")):
            self.say(bool(said) == bool(natures), "prior or correction is kept back, or made up")
            for kind in said:
                self.say(all(self.rows[kind].gain.value >= self.rows[o].gain.value for o in natures), "the other one")
        again = self.case.shape.ceiling.spread.wanted_again
        match = re.search(r"Popularity cannot be learned here: (less than 0\.1|\S+) % of the judgments are", sentence)
        self.say((match is not None) == (again < 0.05), "what is wanted again is kept back, or made up")
        if match is not None:
            self.share(match[1], again)
