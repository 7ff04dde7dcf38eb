"""A task as its shards know it: by row numbers, without the ids and texts of its documents, so that it can be sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from offsphere.base.digests import array_pieces, digest_of, digest_of_texts
from offsphere.base.errors import ParameterError
from offsphere.base.plain import plain
from offsphere.comparison.compare_scorers import metric_for
from offsphere.data.grouping import Grouping
from offsphere.data.judgments import Judgments
from offsphere.data.ranking_task import RankingTask
from offsphere.data.task import Task
from offsphere.data.task_kinds import as_ranking_task
from offsphere.statistics.metrics import QualityMetric


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFacts:
    """What the table says of the task, and what must not be found in it."""

    name: str
    unit: str
    units: int
    made: str | None
    described: Mapping[str, Any]  # its summary
    group_names: Sequence[str]
    group_labels: Sequence[Sequence[str]]
    excluded: str | None  # a digest of the pairs of a query and a document that it must not get

    @classmethod
    def of(cls, task: RankingTask) -> TaskFacts:
        """Write down what the table says of a task."""
        return cls(
            name=task.name,
            unit=task.unit,
            units=task.units,
            made=task.made,
            described=plain(task.summary()),
            group_names=[grouping.name for grouping in task.groups],
            group_labels=[list(grouping.labels) for grouping in task.groups],
            excluded=_digest_of_pairs(task.excluded) if task.excluded is not None else None,
        )

    def summary(self) -> dict[str, Any]:
        """Names and counts, as they stand in every output."""
        return dict(self.described)

    @property
    def groups(self) -> list[Grouping]:
        """How the data groups its queries."""
        return [Grouping(name, labels) for name, labels in zip(self.group_names, self.group_labels, strict=True)]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DividedTask:
    """What every shard knows of a task, however many documents it has.

    Attributes:
        facts: What the table says of it.
        documents: How many there are.
        ids: A digest of their ids, in their order.
        judgments: By the rows of queries and documents.
        excluded: What a query must not get, by the same rows.
        metric: Under which it is compared.
    """

    facts: TaskFacts
    documents: int
    ids: str
    judgments: Judgments
    excluded: Judgments | None
    metric: str

    @classmethod
    def of(cls, task: Task, metric: str | None = None) -> DividedTask:
        """Find the rows of all that a task says of its documents.

        Args:
            task: The whole task.
            metric: Under which it is compared; the usual one unless named.

        Raises:
            ParameterError: The metric or the task needs all documents at once.

        Example:
            >>> import offsphere as osp
            >>> from offsphere.shards.divided_task import DividedTask
            >>> task = DividedTask.of(osp.RankingTask.from_judgments({"q1": {"d2": 1}}, ["d1", "d2"]))
            >>> task.documents, task.metric, task.judgments.documents.tolist()
            (2, 'ndcg@10', [1])
        """
        chosen = metric_for(task, metric)
        ranking = check_divisible(task, chosen)
        return cls(
            facts=TaskFacts.of(ranking),
            documents=len(ranking.document_ids),
            ids=digest_of_texts(ranking.document_ids),
            judgments=ranking.judgments,
            excluded=ranking.excluded,
            metric=chosen.name,
        )


def check_divisible(task: Task, metric: QualityMetric) -> RankingTask:
    """The task, known to be one whose documents can be searched shard by shard.

    Raises:
        ParameterError: It needs all documents at once; the message says why.
    """
    ranking = as_ranking_task(task)
    if ranking is None:
        raise ParameterError(f"{task.name} has no documents to divide: compare it in one run, without --shard")
    if not ranking.judgments.by_document or ranking.queries_from_documents is not None:
        raise ParameterError(
            f"{task.name} judges whole lists, or makes its queries' vectors of its documents': compare it in one run, "
            "without --shard"
        )
    if metric.kind != "ranking":
        raise ParameterError(
            f"metric {metric.name} is one of all queries together: over shards use one with a value a query, such as "
            "ndcg@10, mrr@10 or recall@100"
        )
    return ranking


def _digest_of_pairs(excluded: Judgments) -> str:
    queries, documents = excluded.pairs
    return digest_of(array_pieces({"queries": queries, "documents": documents}))
