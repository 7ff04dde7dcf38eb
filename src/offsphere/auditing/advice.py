"""Evidence to recommendation, in words a sceptic can check: every sentence carries the number behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from offsphere.auditing.findings import Case, Finding, Topic, findings_of
from offsphere.base.errors import ParameterError
from offsphere.base.in_notebook import InNotebook, NotebookView
from offsphere.base.plain import plain
from offsphere.comparison.choice import Choice
from offsphere.comparison.table import Comparison
from offsphere.comparison.verdict import recommended_choice
from offsphere.engines.deployed.deployment import Deployment
from offsphere.engines.settings import Setting, engine_settings
from offsphere.geometry.shape import Geometry
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import DOT
from offsphere.statistics.metrics import parse_metric

VERDICT: tuple[Topic, ...] = ("scorer", "length", "expectation")  # the topics whose first finding is told first
AFTER: tuple[Topic, ...] = ("ceiling", "deployed")  # all of whose findings follow


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Advice(InNotebook):
    """What to use, and why. Made by ``advise`` and, within an audit, by ``audit``.

    Attributes:
        scorer: The recommended scorer, fitted: what one deploys.
        name: Its name.
        verdict: Three sentences: which scorer, what length carries, and what one would have expected; then what
            anything about documents alone is worth, where that was measured, and the index in use, where one was seen.
        findings: Every sentence, with its topic and the numbers it rests on.
        settings: What to set in each search engine.
        symmetric: Whether the two sides could be exchanged.
        declared: The similarity that the model says it is to be scored with.
        choice: The row of the comparison that is recommended, and the best one.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> rng = np.random.default_rng(0)
        >>> rows = (rng.normal(size=(80, 4)) * np.exp(rng.normal(size=(80, 1)))).astype(np.float32)
        >>> task = osp.PairTask("pairs", (rows @ rows[0]).astype(float))
        >>> vectors = osp.PairVectors.of(task, np.tile(rows[0], (80, 1)), rows)
        >>> table = osp.compare(task, vectors, [osp.parse_scorer("dot")])
        >>> advice = osp.advise(table, osp.measure(task, vectors, ["lengths"]))
        >>> advice.name, [finding.topic for finding in advice.findings]
        ('dot', ['scorer', 'length', 'expectation', 'training'])
        >>> advice.settings[1].engine, advice.settings[1].setting
        ('Qdrant', 'VectorParams(distance=Distance.DOT)')
    """

    scorer: Scorer
    name: str
    verdict: Sequence[str]
    findings: Sequence[Finding]
    settings: Sequence[Setting]
    symmetric: bool
    declared: str | None
    choice: Choice = field(repr=False)

    def __repr__(self) -> str:
        """The verdict, a sentence a line."""
        return "\n".join(self.verdict)

    def about(self, topic: Topic) -> list[Finding]:
        """The findings on one topic.

        Args:
            topic: ``scorer``, ``lists``, ``length``, ``expectation``, ``ceiling``, ``deployed``, ``training`` or
                ``wrong``.

        Returns:
            Its findings, the most important first.
        """
        return [finding for finding in self.findings if finding.topic == topic]

    def notebook_view(self) -> NotebookView:
        """The verdict, and what to set in each search engine."""
        rows = [[setting.engine, setting.setting, setting.store, setting.query] for setting in self.settings]
        return NotebookView(self.verdict, ["engine", "set", "store", "query with"], rows)

    def records(self) -> list[dict[str, Any]]:
        """Give every finding: topic, claim, direction, certainty and its sentence.

        Returns:
            A dictionary a finding.
        """
        names = ("topic", "claim", "direction", "certainty", "sentence")
        return [{name: getattr(finding, name) for name in names} for finding in self.findings]

    def to_json(self) -> dict[str, Any]:
        """Names, sentences, numbers and settings as plain values for machines."""
        return {
            "scorer": self.name,
            "verdict": list(self.verdict),
            "symmetric": self.symmetric,
            "declared": self.declared,
            "findings": [finding.to_json() for finding in self.findings],
            "settings": plain(list(self.settings)),
        }


def advise(
    table: Comparison,
    shape: Geometry,
    *,
    symmetric: bool | None = None,
    deployment: Deployment | None = None,
) -> Advice:
    """Turn a comparison and a measurement into a recommendation.

    Args:
        table: What ``compare`` found, and what it was told the model declares.
        shape: What ``measure`` found on the same task.
        symmetric: Whether the two sides could be exchanged; unless said, as the family of the task has it.
        deployment: What is known of the index in use, whose vectors these are.

    Returns:
        The scorer to use, the sentences that say why, and what to set in search engines.

    Example:
        Length is authority here, and relevance is what is near *and* has authority:

        >>> import numpy as np
        >>> import offsphere as osp
        >>> rng = np.random.default_rng(0)
        >>> documents = (rng.normal(size=(60, 8)) * np.exp(rng.normal(0, 0.6, (60, 1)))).astype(np.float32)
        >>> queries = documents[:30] + rng.normal(0, 0.2, (30, 8)).astype(np.float32)
        >>> nearest = np.argsort(-(queries @ documents.T), axis=1)[:, :3]
        >>> judged = {f"q{q}": {f"d{d}": 1.0 for d in row} for q, row in enumerate(nearest)}
        >>> task = osp.RankingTask.from_judgments(judged, [f"d{d}" for d in range(60)])
        >>> vectors = osp.RankingVectors.of(task, queries, documents)
        >>> table = osp.compare(task, vectors, [osp.parse_scorer("dot")])
        >>> advice = osp.advise(table, osp.measure(task, vectors, ["lengths"]))
        >>> advice.name, advice.scorer.name
        ('dot', 'dot')
        >>> advice.verdict[1].partition(":")[0]
        'Vector length helps'
    """
    if isinstance(table, Geometry) and isinstance(shape, Comparison):
        raise ParameterError("advise(shape, table) is the wrong way round: write advise(table, shape)")
    symmetric = bool(table.task.get("symmetric")) if symmetric is None else symmetric
    if deployment is not None and deployment.scorer is not None:
        table = replace(table, deployed=deployment.scorer.name)
    choice = recommended_choice(table)
    case = Case(table, shape, choice, symmetric, deployment)
    findings = findings_of(case)
    # of unit vectors the dot product is the cosine: engines need not normalise them again
    served = Scorer(DOT) if case.normalized and not choice.better else choice.scorer
    return Advice(
        scorer=choice.scorer,
        name=choice.name,
        verdict=[
            *(next(finding.sentence for finding in findings if finding.topic == topic) for topic in VERDICT),
            *(finding.sentence for finding in findings if finding.topic in AFTER),
        ],
        findings=findings,
        settings=engine_settings(served, "query" if parse_metric(table.metric).agreement == "query" else "order"),
        symmetric=symmetric,
        declared=table.declared,
        choice=choice,
    )
