"""Reads sentences of a verdict as a person would and holds them against the raw numbers: it knows nothing of the rules.

What it reads are words and printed numbers; what it holds them against are rows, procedure, effects and hubs of a case.
"""

from __future__ import annotations

import re

from tests.auditing.read_ceiling import CeilingReader
from tests.auditing.read_deployed import DeployedReader
from tests.auditing.read_lengths import LengthReader
from tests.auditing.read_lists import ListReader
from tests.auditing.read_scorers import ScorerReader
from tests.auditing.read_sections import section_complaints
from tests.auditing.read_storing import StoringReader
from tests.auditing.read_warnings import WarningReader

READERS = {
    "scorer": ScorerReader,
    "storing": StoringReader,
    "lists": ListReader,
    "length": LengthReader,
    "expectation": LengthReader,
    "training": LengthReader,
    "ceiling": CeilingReader,
    "deployed": DeployedReader,
    "wrong": WarningReader,
}


def grammar(sentence, names=()):
    """What is ugly in a sentence; names are not ours to mend."""
    text = re.sub(r"the worst, .*, in ", "the worst, x, in ", sentence)
    text = re.sub(r" --(?=[a-z])", " ", text)  # an option of a command
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
        (r"^Use ", {("up", "sure")}),
        (r"^Vector length helps", {("up", "sure")}),
        (r"^Vector length hurts", {("down", "sure")}),
        (r"^Vector length makes no difference", {("none", "equal")}),
        (r"^Whether vector length helps cannot be told", {("none", "unsure")}),
        (r"others? gains .*which is less than the smallest|All vectors that|ranks alike", {("none", "equal")}),
        (r"is missed: .* in which it had no say", {("up", "equal")}),
        (r"^(?:Keep|Take) .*(could be shown|holds up|has a higher)", {("none", "unsure")}),
        (r"Do not choose|too few to choose|^What vector length", {("none", "unknown")}),
        (r"here it does", {("up", "sure"), ("down", "sure")}),
        (r"here it helps instead", {("up", "sure")}),
        (r"in these vectors, as they are, it does not", {("down", "sure")}),
        (r"here no difference was found", {("none", "unsure")}),
        (r"too few to tell\.$|cannot be told from this task", {("none", "unknown")}),
        (r"keep the document's vector length", {("up", "sure")}),
        (r"start with both sides normalised", {("none", "unsure")}),
        (r"too few to be sure", {("none", "unsure")}),
        (r"which is better than|serves, .*, is better than", {("up", "sure")}),
        (r"which is worse than|serves, .*, is worse than", {("down", "sure")}),
        (r"not surely better or worse", {("none", "unsure")}),
        (r"^Do not look for a boost", {("none", "equal")}),
        (r"^Vector length (could serve|serves)|^A boost per document would gain", {("up", "sure")}),
        (r"^Whether a boost per document", {("none", "unsure")}),
        (r"^Store whole", {("down", "sure"), ("none", "unsure")}),
        (r"^Store (?!whole)", {("none", "equal")}),
        (r"Its setting costs", {("up", "sure")}),
        (r"Whether its setting costs", {("none", "unsure")}),
        (r"Keep its setting: .* which is recommended\.$", {("none", "equal")}),
        (r"Keep its setting: .* but better by", {("down", "sure")}),
    )
    return [f"{state} for {pattern}" for pattern, states in rules if re.search(pattern, words) and state not in states]


def complaints_on(finding, case, advice):
    """Everything that is wrong with one finding."""
    reader = READERS[finding.topic](case, advice)
    names = [name for row in case.table.rows for name in (row.name, row.scorer.name)]
    sentence = finding.sentence
    if finding.certainty == "sure" and not reader.enough and finding.topic != "training":
        descriptive = re.match(r"[\d,]+ \w+ are too few|A rogue|Every vector length|Hubs|Your index", sentence)
        reader.say(descriptive is not None, "certain of a handful")
    getattr(reader, finding.topic)(sentence)
    return [*grammar(sentence, names), *fields(finding), *reader.complaints]


def missing_ceiling(case, sentences):
    """What documents alone tell is said once where it was measured under the metric in question, and else not."""
    reader = ScorerReader(case, case.advice)
    ceiling = case.shape.ceiling
    due = ceiling is not None and ceiling.metric == case.table.metric and reader.enough and reader.readable
    return [] if len(sentences) == int(due) else ["what documents tell is kept back, or made up"]


def missing_cost(advice, findings):
    """What serving a document bias takes is said once where it is recommended, by ``compare`` too, and else not."""
    told = [finding for finding in findings if re.match(r"With .+ every document gets a number", finding.sentence)]
    due = advice.scorer.bias is not None
    return [] if len(told) == int(due) else ["what a bias costs is kept back, or made up"]


def complaints_of(case, advice=None):
    """Everything that is wrong with what is said of a case, by ``audit`` and by ``compare``."""
    advice = advice if advice is not None else case.advice
    found = []
    for finding in [*advice.findings, *case.table.findings]:
        found += [f"{finding.sentence}\n  {complaint}" for complaint in complaints_on(finding, case, advice)]
    found += [complaint for _, complaint in section_complaints(case, advice)]
    firsts = [next(f.sentence for f in advice.findings if f.topic == t) for t in ("scorer", "length", "expectation")]
    ceiling, deployed = ([f.sentence for f in advice.findings if f.topic == t] for t in ("ceiling", "deployed"))
    if list(advice.verdict) != [*firsts, *ceiling, *deployed]:
        found.append("the verdict is not scorer, length, expectation, what documents tell, and what is deployed")
    found += missing_ceiling(case, ceiling)
    found += [*missing_cost(advice, advice.findings), *missing_cost(advice, case.table.findings)]
    if (case.deployment is not None) != bool(deployed):
        found.append("what is deployed is kept back, or made up")
    if case.table.findings[0].sentence != advice.verdict[0]:
        found.append("compare and audit say different things")
    if case.table.chosen is not advice.choice.row:
        found.append("compare and audit choose different rows")
    return found
