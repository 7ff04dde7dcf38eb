"""Reads the sentences on what documents alone can tell."""

from __future__ import annotations

import re

from tests.auditing.reader import CHANGE, NUMBER, P, Reader, shown

WORDS = {
    "how often other queries want it": "prior",
    "how near it is to any query": "correction",
    "a bias of its own": "bias",
    "a weight of its own": "weight",
    "a curve of its length": "length",
}
GAIN = rf"{CHANGE} of (?P<metric>\S+) over cosine \({P}\)"
NATURE = {"It is a prior": "prior", "It is a correction": "correction"}


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
            "Stop looking": self._stop,
            "Today's lengths hold what": self._held,
            "Today's lengths hold a part": self._part,
            "There is something to be had": self._none,
            "Whether anything about the documents": self._unclear,
        }
        readers = [reader for start, reader in read.items() if sentence.startswith(start)]
        self.say(len(readers) == 1, "cannot be read in one way")
        for reader in readers:
            reader(sentence)
        self._after(sentence)

    def _stop(self, sentence):
        match = re.match(rf".*no more than ({NUMBER}) of (\S+) over cosine, and a gain below ({NUMBER}) does", sentence)
        self.say(shown(match[1], self.most) and match[2] == self.table.metric, f"{match[1]} is not {self.most}")
        self.say(abs(float(match[3]) - self.worth) <= 1e-3 * self.worth, "another gain matters")
        self.say(self.most < self.worth, "there may be something that matters")

    def _held(self, sentence):
        self.say("length" in self.sure, "lengths do not surely gain")
        self._gain(re.search(rf"a curve of them gains {GAIN}", sentence), "length")
        better = [kind for kind in self.sure if self.rows[kind].gain.value > self.rows["length"].gain.value]
        self.say(not better, "something else gains more")

    def _part(self, sentence):
        self.say("length" in self.sure, "lengths do not surely gain")
        self._gain(re.search(rf"a curve of them gains {GAIN}", sentence), "length")
        kind = self._best(re.search(rf"; (?P<kind>.*?) gains {GAIN}", sentence))
        self.say(self.rows[kind].gain.value >= self.rows["length"].gain.value, "lengths gain more")

    def _none(self, sentence):
        self.say("length" not in self.sure, "lengths surely gain")
        self._best(re.match(rf"There is something.*?: (?P<kind>.*?) gains {GAIN}", sentence))
        if "length" in self.rows:
            self._gain(re.search(rf"a curve of them gains {GAIN}", sentence), "length")
        else:
            self.say("all lengths are equal" in sentence, "a curve is made up")

    def _unclear(self, sentence):
        self.say(not self.sure, "something surely gains")
        match = re.match(
            rf".*the best, (?P<kind>.*?), gains {GAIN}; .*, it is no more than (?P<most>{NUMBER})", sentence
        )
        self._gain(match, WORDS[match["kind"]])
        self.say(shown(match["most"], self.most), f"{match['most']} is not {self.most}")
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
        if match["low"] is not None:
            low, high, p = float(match["low"]), float(match["high"]), float(match["p"][2:])
            agree = (low >= 0 or high <= 0) if p < 0.05 else low <= 0 <= high
            self.say(agree, f"p {match['p']} stands beside [{low}, {high}]")

    def _after(self, sentence):
        """Prior or correction, and whether anything is wanted twice."""
        said = [kind for words, kind in NATURE.items() if words in sentence]
        for kind in said:
            self.say(kind in self.sure, f"it is no {kind}")
        natures = [kind for kind in ("prior", "correction") if kind in self.sure]
        if sentence.startswith(("Today's", "There is")):
            self.say(bool(said) == bool(natures), "prior or correction is kept back, or made up")
            for kind in said:
                self.say(all(self.rows[kind].gain.value >= self.rows[o].gain.value for o in natures), "the other one")
        again = self.case.shape.ceiling.spread.wanted_again
        match = re.search(r"Of the judgments (less than 0\.1|\S+) % are for a document", sentence)
        self.say((match is not None) == (again < 0.05), "what is wanted again is kept back, or made up")
        if match is not None:
            self.share(match[1], again)
