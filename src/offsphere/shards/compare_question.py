"""What all shards of one comparison have in common: the options, the queries, the judgments and what was fitted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Arrays, Vectors
from offsphere.base.digests import array_pieces, digest_of
from offsphere.base.errors import DataError
from offsphere.base.plain import plain
from offsphere.base.short_repr import short_repr
from offsphere.comparison.candidate_rows import CandidateRows, candidate_rows
from offsphere.comparison.compare_scorers import check_numbers
from offsphere.comparison.corpus_fit import CorpusFit
from offsphere.data.grouping import grouping_named
from offsphere.data.judgments import Judgments
from offsphere.shards.divided_task import DividedTask, TaskFacts
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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CompareQuestion:
    """Everything about a comparison but its documents."""

    options: CompareOptions
    facts: TaskFacts
    queries: Vectors
    judgments: Judgments
    fit: CorpusFit

    @classmethod
    def of(cls, task: DividedTask, options: CompareOptions, queries: Vectors, fit: CorpusFit) -> CompareQuestion:
        """Put the question of a task, under the metric for which it was divided.

        Raises:
            ParameterError: An option is out of range.
        """
        check_numbers(options.folds, options.seed, options.worth)
        if options.by is not None:
            grouping_named(task.facts.groups, options.by, task.facts.name)
        if options.scorers is None:
            refuse_two_widths(int(queries.shape[1]), len(fit.moments.mean))
        return cls(
            options=replace(options, metric=task.metric),  # a name that needs no task to be understood
            facts=task.facts,
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
