"""What all shards of one comparison have in common: the options, the queries, the judgments and what was fitted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Arrays, Vectors
from offsphere.base.digests import array_pieces, digest_of
from offsphere.base.errors import DataError, ParameterError
from offsphere.base.plain import plain
from offsphere.base.short_repr import short_repr
from offsphere.comparison.candidate_rows import CandidateRows, candidate_rows
from offsphere.comparison.compare_scorers import check_numbers, metric_for
from offsphere.comparison.corpus_fit import CorpusFit
from offsphere.data.grouping import Grouping, grouping_named
from offsphere.data.judgments import Judgments
from offsphere.data.ranking_task import RankingTask
from offsphere.data.task import Task
from offsphere.data.task_kinds import as_ranking_task
from offsphere.shards.fit_state import fit_arrays, fit_from_arrays
from offsphere.statistics.metrics import QualityMetric, parse_metric
from offsphere.vectors.lengths import lengths
from offsphere.vectors.widths import refuse_two_widths


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """How shards are compared: the options of ``compare`` that work over shards.

    Attributes:
        scorers: Names to compare with cosine; everything where there are none.
        metric: Of rankings, a value a query; the task's usual one unless named.
        folds: Of the cross-validation.
        seed: Of folds, intervals and tests.
        permutations: Of the test behind each p.
        declared: The similarity that the model says it is to be scored with.
        worth: The smallest gain that matters.
        by: A field that groups the queries.

    Example:
        >>> import offsphere as osp
        >>> osp.CompareOptions(scorers=["dot"], metric="mrr@10").folds
        5
    """

    scorers: Sequence[str] | None = None
    metric: str | None = None
    folds: int = 5
    seed: int = 0
    permutations: int = 10_000
    declared: str | None = None
    worth: float | None = None
    by: str | None = None

    __repr__ = short_repr


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
class CompareQuestion:
    """Everything about a comparison but its documents."""

    options: CompareOptions
    facts: TaskFacts
    queries: Vectors
    judgments: Judgments
    fit: CorpusFit

    @classmethod
    def of(cls, task: RankingTask, options: CompareOptions, queries: Vectors, fit: CorpusFit) -> CompareQuestion:
        """Put the question of a task; what does not work over shards is refused.

        Raises:
            ParameterError: The metric or the task needs all documents at once, or an option is out of range.
        """
        check_numbers(options.folds, options.seed, options.worth)
        metric = metric_for(task, options.metric)
        check_divisible(task, metric)
        if options.by is not None:
            grouping_named(task.groups, options.by, task.name)
        if options.scorers is None:
            refuse_two_widths(int(queries.shape[1]), len(fit.moments.mean))
        return cls(
            options=replace(options, metric=metric.name),  # a name that needs no task to be understood
            facts=TaskFacts.of(task),
            queries=np.ascontiguousarray(queries),
            judgments=task.judgments,
            fit=fit,
        )

    @property
    def metric(self) -> QualityMetric:
        """The metric under which scorers are measured."""
        assert self.options.metric is not None  # set where the question is put, and checked where one is read
        return parse_metric(self.options.metric)

    def rows(self) -> CandidateRows:
        """The rows of the comparison, fitted: the same in every process."""
        no_empty = self.fit.with_length == self.fit.moments.count and bool((lengths(self.queries) > 0).all())
        return candidate_rows(
            self.options.scorers,
            (),
            self.fit.moments,
            self.metric.agreement,
            one_width=self.queries.shape[1] == len(self.fit.moments.mean),
            equal_lengths=self.fit.equal_lengths and no_empty,
        )

    def described(self) -> dict[str, str]:
        """The options in words, for errors that say what differs."""
        options = {name: str(value) for name, value in asdict(self.options).items()}
        return {"task": self.facts.name, "split": str(self.facts.described.get("split")), **options}

    def digest(self) -> str:
        """A digest by which the shards of one question know each other."""
        return digest_of([json.dumps(self.values(), sort_keys=True).encode(), *array_pieces(self.arrays())])

    def values(self) -> dict[str, Any]:
        """What is no array, as plain values."""
        return {"options": plain(asdict(self.options)), "facts": plain(asdict(self.facts))}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Its arrays, by name."""
        return {
            "queries": self.queries,
            "judgments.queries": self.judgments.queries,
            "judgments.documents": self.judgments.documents,
            "judgments.grades": self.judgments.grades,
            **fit_arrays(self.fit),
        }

    @classmethod
    def from_arrays(cls, options: CompareOptions, facts: TaskFacts, arrays: Arrays) -> CompareQuestion:
        """Make it again from what ``values`` and ``arrays`` gave.

        Raises:
            DataError: It names no metric.
        """
        if options.metric is None:
            raise DataError("the question of a state names no metric: make it again")
        fit = fit_from_arrays(arrays)
        queries, documents, grades = (arrays[f"judgments.{name}"] for name in ("queries", "documents", "grades"))
        return cls(
            options=options,
            facts=facts,
            queries=arrays["queries"],
            judgments=Judgments(queries, documents, grades, len(arrays["queries"]), fit.moments.count),
            fit=fit,
        )


def _digest_of_pairs(excluded: Judgments) -> str:
    queries, documents = excluded.pairs
    return digest_of(array_pieces({"queries": queries, "documents": documents}))


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
