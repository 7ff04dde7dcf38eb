"""Reads the sentences on an index in use: its metric and lengths, what its setting costs, what it returns and lacks."""

from __future__ import annotations

import re

from offsphere.engines.metric import Metric
from tests.auditing.reader import CHANGE, CHOICE, NUMBER, P, Reader, number, shown

CALLED = {"the dot product": "dot", "euclidean distance": "euclidean"}
SCORER_OF = {Metric.COSINE: "cosine", Metric.INNER_PRODUCT: "dot", Metric.EUCLIDEAN: "euclidean"}
SURE = rf"\((?P<sure>very sure|fairly sure|may be chance), {P}(?P<pair> for these two alone)?\)"
ALONE = rf"(?P<alone>{NUMBER}) \[(?P<alone_low>{NUMBER}), (?P<alone_high>{NUMBER})\]"
SURE_ALONE = r"(?P<alone_sure>very sure|fairly sure), p (?P<alone_p>[=<] [\d.e-]+)"
SENTENCES = (
    (
        "_index",
        (
            r"Your index \((?P<engine>[^,]+), (?P<index>.+), (?P<rows>[\d,]+) vectors?\) (?:is set to "
            r"(?P<setting>[a-z ]+)|has no metric that can be judged, as it is chosen with each query or not known "
            r"here): its (?:vectors still have their lengths, which vary by (?P<variation>.+) % of their mean\.|"
            r"lengths are gone, (?P<who>.*?)\. What they are worth cannot be told from it: to know it, embed the "
            r"documents again and keep their lengths\.)$"
        ),
    ),
    (
        "_changed",
        (
            r"Your index \((?P<engine>[^,]+), (?P<index>.+), (?P<rows>[\d,]+) vectors?\) holds what an export made of "
            r"the vectors(?: for (?P<scorer>.+))?: its lengths are not the model's, it is to be asked with "
            r"scorer\.query\(vectors\), and what is compared here with raw queries is not what it serves\. Audit the "
            r"vectors that were exported\.$"
        ),
    ),
    (
        "_keep",
        (
            r"Keep its setting: (?:it ranks by (?P<same>.+)|by (?P<setting>.+) these vectors rank as by (?P<name>.+)), "
            r"which is recommended\.$"
        ),
    ),
    (
        "_costs",
        (
            rf"Its setting costs quality: (?:{CHOICE}|(?P<row>.+)) is worth {CHANGE} of (?P<metric>\S+) {SURE} more "
            r"than (?P<deployed>.+?)\. (?P<cure>.*?)"
            rf"(?: (?P<whose>\w+) alone brings {ALONE} of it \({SURE_ALONE}\)\.)?$"
        ),
    ),
    (
        "_little",
        (
            rf"Its setting costs too little to matter: (?:{CHOICE}|(?P<row>.+)) is better than (?P<deployed>.+) by "
            rf"{CHANGE} of (?P<metric>\S+) {SURE}, which is less than (?P<worth>{NUMBER})\.$"
        ),
    ),
    (
        "_unsure",
        (
            r"Whether its setting costs anything cannot be told: (?P<name>.+), which is recommended, differs from "
            rf"(?P<deployed>.+) by {CHANGE} of (?P<metric>\S+)(?: {SURE}|, and this metric does not "
            r"tell whether that is chance)\.$"
        ),
    ),
    (
        "_better",
        (
            r"Keep its setting: (?P<deployed>.+) does not do worse than (?P<name>.+), which is recommended, but better "
            rf"by {CHANGE} of (?P<metric>\S+) {SURE}\.$"
        ),
    ),
    (
        "_answers",
        (
            r"Your index returns (?P<part>all|[\d.]+ %) of the exact (?P<k>\w+) (?:best|one) by its own metric, asked "
            r"with (?P<queries>[\d,]+) quer(?:y|ies) and no settings of your own"
            r"(?P<cure>: let it look at more candidates \(ef, or nprobe\))?\.$"
        ),
    ),
    (
        "_differs",
        (
            r"Your index and the task differ: (?:(?P<missing>[\d,]+) of the task's (?P<documents>[\d,]+) documents "
            r"(?:is|are) not in it)?(?: and )?(?:(?P<unknown>[\d,]+) of its (?P<rows>[\d,]+) vectors belongs? to no "
            r"document of the task)?; they were left out\.$"
        ),
    ),
)


class DeployedReader(Reader):
    """Sentences on an index in use."""

    def deployed(self, sentence):
        """One sentence."""
        self.index = self.case.deployment
        if self.index is None:
            self.say(False, "there is no index")
            return
        matches = [(name, match) for name, pattern in SENTENCES if (match := re.match(pattern, sentence))]
        self.say(len(matches) == 1, "cannot be read in one way")
        for name, match in matches:
            getattr(self, name)(match)

    def _index(self, match):
        index = self.index
        said = (match["engine"], match["index"], number(match["rows"]), match["setting"])
        metric = None if index.metric is None else str(index.metric)
        self.say(said == (index.engine.name, index.index, index.rows, metric), f"{said} is another index")
        if match["variation"] is not None:
            self.say(index.lengths == "kept", "lengths are gone")
            self.share(match["variation"], index.variation)
        elif "normalised the vectors when it stored them" in match["who"]:
            self.say(match["who"].startswith(index.engine.name), "another engine")
            self.say(index.lengths == "lost in the engine", "the engine did not lose them")
        else:
            length = re.fullmatch(r"all vectors( but empty ones)? have the length (\S+) and .*", match["who"])
            self.say(length is not None and float(length[2]) == index.mean_length, "another length")
            self.say(length is not None and (length[1] is not None) == bool(index.empty), "empty ones have no length")
            self.say(index.lengths == "lost before", "they were not lost before")

    def _changed(self, match):
        index = self.index
        said = (match["engine"], match["index"], number(match["rows"]))
        self.say(said == (index.engine.name, index.index, index.rows), f"{said} is another index")
        scorer = CALLED.get(match["scorer"], match["scorer"])
        self.say((scorer or "") == index.made_for, f"it was made for {index.made_for!r}")

    def _keep(self, match):
        name = self._recommended(match["same"] or match["name"])
        deployed = SCORER_OF.get(self.index.metric)
        if match["same"] is not None:
            self.say(name == deployed, "it ranks by something else")
        else:
            self.say(match["setting"] == str(self.index.metric) and name != deployed, "it is set to something else")
        row = self.row(deployed) if deployed is not None else None
        self.say(row is not None and row is self.advice.choice.row, "it ranks otherwise")

    def _costs(self, match):
        _, high = self._change(match, sure=True)
        self.say(number(match["gain"]) > 0, "it does not cost")
        self.say(high is None or high >= self.worth, "too little to matter")
        self._alone(match)
        cure, scorer = match["cure"], self.advice.scorer
        if cure.startswith("The vectors can stay as they are: set "):
            setting = cure.removeprefix("The vectors can stay as they are: set ").removesuffix(".")
            known = [metric for metric, facts in self.index.engine.metrics.items() if facts.setting == setting]
            self.say(len(known) == 1 and not scorer.transforms and scorer.bias is None, "it needs other vectors")
            self.say(
                known[:1] == [metric for metric, name in SCORER_OF.items() if name == scorer.name], "another metric"
            )
        elif cure == "That needs other vectors than are stored: offsphere export makes them.":
            self.say(scorer.similarity.lowers and scorer.name != "cosine", "no vectors do that")
        elif cure == (
            "Divide the stored vectors and every query by their lengths (offsphere export does it): nothing has to be "
            "embedded again."
        ):
            self.say(scorer.name == "cosine" and self.index.metric is not Metric.COSINE, "that is not what it takes")
        else:
            unserved = f"{self.index.engine.name} cannot serve it: fetch a few hundred as now, and re-rank them."
            self.say(cure == unserved and not scorer.similarity.lowers, "it can be served")

    def _alone(self, match):
        """What cosine alone brings: said where it is surely something, and something else is recommended."""
        row = self.row(SCORER_OF.get(self.index.metric))
        expected = row is not None and row.worse and self.row(self.advice.choice.row.name) is not self.baseline
        self.say((match["alone"] is not None) == expected, "is what cosine alone brings worth a word?")
        if match["alone"] is None or row is None:
            return
        self.say(match["whose"].lower() == "cosine", "something else brings it")
        told = (("alone", row.difference), ("alone_low", row.difference_high), ("alone_high", row.difference_low))
        for name, value in told:
            self.say(shown(match[name], -value), f"{match[name]} is not {-value}")
        self.certain(match["alone_sure"], row.p)

    def _little(self, match):
        _, high = self._change(match, sure=True)
        self.say(number(match["gain"]) >= 0, "it gains")
        self.say(high is not None and high < self.worth, "it costs as much as matters")
        self.say(shown(match["worth"], self.worth, 4), "another worth")

    def _unsure(self, match):
        p, _ = self._change(match, sure=False)
        self.say(p is None or p >= 0.05, "it can be told")

    def _better(self, match):
        self._change(match, sure=True, turned=True)
        self.say(number(match["gain"]) >= 0, "it is not better")

    def _change(self, match, *, sure, turned=False):
        """The change between what is recommended and what is deployed; its p and upper end."""
        self.say(self.enough and self.readable, "tells by a handful, or by nothing")
        named = match.groupdict()
        self._recommended(named["name"] or named["row"])
        deployed = SCORER_OF.get(self.index.metric)
        self.say(CALLED.get(match["deployed"], match["deployed"]) == deployed, "something else is deployed")
        self.say(match["metric"] == self.table.metric, "another metric")
        row, choice = (self.row(deployed) if deployed is not None else None), self.advice.choice
        chosen = self.row(choice.row.name)
        if row is None or row is chosen:
            self.say(False, "there is nothing to compare")
            return None, None
        followed = row is self.baseline and choice.by == "procedure"
        self.say("often" not in named or (named["name"] is not None) == followed, "whose gain is it?")
        if followed and "often" in named:
            self.often(named)
        if row is self.baseline:
            of = self.table.procedure if choice.by == "procedure" else None
            numbers = (of.gain, of.low, of.high, of.p) if of is not None else (
                chosen.difference, chosen.difference_low, chosen.difference_high, chosen.p
            )  # fmt: skip
        elif chosen is self.baseline:
            numbers = (-row.difference, -row.difference_high, -row.difference_low, row.p)
        else:
            numbers = (chosen.value - row.value, None, None, None)
        gain, low, high, p = numbers
        if turned:
            gain, low, high = -gain, -high, -low
        self.say(shown(match["gain"], gain), f"{match['gain']} is not {gain}")
        alone = row is not self.baseline and chosen is not self.baseline
        self.say(match["p"] is None or (match["pair"] is not None) == alone, "whose p?")
        if alone:
            p = self.between(match["p"], chosen, row)
            self.say((match["low"] is None) == (p is None), "an interval is made up, or kept back")
            if match["low"] is not None and match["p"] is not None:
                low, high = number(match["low"]), number(match["high"])
                inside = low - 1e-4 <= number(match["gain"]) <= high + 1e-4
                sure_of_it = float(match["p"][2:]) < 0.05
                agree = (low >= 0 or high <= 0) if sure_of_it else low <= 0 <= high
                self.say(inside and agree, f"p {match['p']} stands beside [{low}, {high}]")
                self.certain(match["sure"], float(match["p"][2:]))
                p = float(match["p"][2:])
        else:
            self.say(match["low"] is not None and shown(match["low"], low) and shown(match["high"], high), "interval")
            self.chance(match["p"], p) if match["p"] is not None else self.say(False, "p is kept back")
            self.certain(match["sure"], p)
        self.say(not sure or (p is not None and p < 0.05), "is not sure")
        return p, high

    def _recommended(self, text):
        name = CALLED.get(text, text)
        self.say(name == self.advice.name, f"{name} is not recommended")
        self.say(self.enough and self.readable, "recommends by a handful")
        return name

    def _answers(self, match):
        seen = self.index.answers
        words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
        k = 1 if match["k"] == "best" else words.index(match["k"])
        self.say((k, number(match["queries"])) == (seen.k, seen.queries), "other answers")
        if match["part"] == "all":
            self.say(seen.recall == 1, "not all")
        else:
            part = float(match["part"].removesuffix(" %")) / 100
            self.say(part <= seen.recall < part + 0.001 + 1e-12 and part < 1, f"{part} is not {seen.recall}")
        self.say((match["cure"] is not None) == (seen.recall < 0.95), "a cure for what is well")

    def _differs(self, match):
        index = self.index
        said = {name: int(number(match[name])) if match[name] else 0 for name in ("missing", "unknown")}
        self.say(said == {"missing": index.missing, "unknown": index.unknown}, "other counts")
        self.say(bool(index.missing or index.unknown), "nothing differs")
        self.say(match["documents"] is None or number(match["documents"]) == index.documents, "other documents")
        self.say(match["rows"] is None or number(match["rows"]) == index.rows, "other rows")
