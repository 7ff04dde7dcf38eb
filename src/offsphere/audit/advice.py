"""Evidence to recommendation, in words a sceptic can check: every sentence carries the number behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from offsphere.audit.findings import Case, Finding, Topic, findings_of
from offsphere.base.plain import plain
from offsphere.comparison.choice import Choice, choose
from offsphere.comparison.table import Comparison
from offsphere.engines.settings import Setting, engine_settings
from offsphere.geometry.shape import Geometry
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import DOT
from offsphere.statistics.metrics import parse_metric

VERDICT: tuple[Topic, ...] = ("scorer", "length", "expectation")  # the topics whose first finding is told first


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Advice:
    """What to use, and why."""

    scorer: Scorer
    name: str
    verdict: Sequence[str]  # three sentences
    findings: Sequence[Finding]
    settings: Sequence[Setting]
    symmetric: bool
    declared: str | None
    choice: Choice = field(repr=False)

    def __repr__(self) -> str:
        """The verdict."""
        return "\n".join(self.verdict)

    def about(self, topic: Topic) -> list[Finding]:
        """The findings on one topic."""
        return [finding for finding in self.findings if finding.topic == topic]

    def to_json(self) -> dict[str, Any]:
        """Plain values for machines."""
        return {
            "scorer": self.name,
            "verdict": list(self.verdict),
            "symmetric": self.symmetric,
            "declared": self.declared,
            "findings": plain(list(self.findings)),
            "settings": plain(list(self.settings)),
        }


def advise(table: Comparison, shape: Geometry, *, symmetric: bool | None = None, declared: str | None = None) -> Advice:
    """Turn a comparison and a measurement into a recommendation.

    ``symmetric`` says whether the two sides could be exchanged; unless said, pair tasks are and ranking tasks are not.
    ``declared`` is the similarity that the model says it is to be scored with.
    """
    roles = (table.task["kind"] == "pairs") if symmetric is None else symmetric
    choice = choose(table)
    case = Case(table, shape, choice, roles, declared)
    if case.unreadable:  # nothing to choose by
        choice = Choice(table[table.baseline], table[table.baseline], None)
        case = case._replace(choice=choice)
    findings = findings_of(case)
    # on unit vectors the dot product is cosine, and cheaper
    plain_dot = case.normalised and not choice.row.better
    scorer = Scorer(DOT) if plain_dot else choice.row.scorer
    verdict = [next(found.sentence for found in findings if found.topic == topic) for topic in VERDICT]
    return Advice(
        scorer,
        scorer.name if plain_dot else choice.row.deployed,
        verdict,
        findings,
        engine_settings(scorer, "query" if parse_metric(table.metric).agreement == "query" else "order"),
        roles,
        declared,
        choice,
    )
