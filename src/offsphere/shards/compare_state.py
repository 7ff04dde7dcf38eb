"""The second pass of a comparison over shards: the top lists of one shard, which merge into those of all documents.

A state has as many entries as there are scorers, queries and places in a list, however many documents were searched.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from offsphere.base.arrays import Array, Index, Vectors
from offsphere.base.digests import digest_of
from offsphere.base.errors import DataError
from offsphere.base.progress import Progress
from offsphere.base.version import __version__
from offsphere.comparison.candidate_rows import CandidateRows
from offsphere.comparison.tuning import list_candidates
from offsphere.data.ranking_evaluator import RankingEvaluator, plain_key
from offsphere.data.task_vectors import RankingVectors
from offsphere.ranking.list_merging import merge_lists
from offsphere.ranking.pairs_by_query import pairs_of
from offsphere.ranking.search import keyed_search, query_turns
from offsphere.scoring.scorer import Scorer
from offsphere.shards.compare_question import CompareOptions, CompareQuestion
from offsphere.shards.divided_task import DividedTask
from offsphere.shards.fit_state import FitState, digest_of_rows
from offsphere.shards.origin import Origin
from offsphere.shards.shard import Shard
from offsphere.statistics.cross_validation import assign_folds
from offsphere.statistics.metrics import QualityMetric


@dataclass(frozen=True, slots=True, eq=False)
class CompareState:
    """The top lists of some shards, and the question that they answer in part."""

    origin: Origin
    question: CompareQuestion
    documents: Index  # (lists, queries, length), by their numbers in the whole corpus; -1 where a list has ended
    keys: Array  # by which they are ranked

    def merge(self, other: CompareState, what: str = "a state") -> CompareState:
        """The state of both, whichever comes first.

        Raises:
            DataError: They are of different questions, or have a shard in common.
        """
        origin = self.origin.merge(other.origin, what)
        depth = min(self.question.metric.depth, origin.documents)
        lists = merge_lists((self.documents, self.keys), (other.documents, other.keys), depth)
        return CompareState(origin, self.question, *lists)


def search_shard(
    task: DividedTask,
    shard: Shard,
    vectors: RankingVectors,
    fitted: FitState,
    options: CompareOptions,
    progress: Progress | None = None,
) -> CompareState:
    """Search one shard for all scorers of a comparison.

    Args:
        task: By the rows of all documents.
        shard: Which part of these is searched.
        vectors: Of all queries, and of the shard's documents.
        fitted: What all shards fitted.
        options: Of the comparison.
        progress: Is told how many documents are done.

    Returns:
        The best documents of every query under every scorer.

    Raises:
        DataError: A shard was not fitted, or was changed since.
        ParameterError: The task or an option does not work over shards.
    """
    return ShardSearch(task, vectors.queries, fitted, options).search(shard, vectors.documents, progress)


@dataclass(frozen=True, eq=False)  # without slots: what is the same for every shard is kept in the object
class ShardSearch:
    """What searches one shard after the other for all scorers of a comparison; whatever they share is made once."""

    task: DividedTask
    queries: Vectors
    fitted: FitState
    options: CompareOptions

    @cached_property
    def question(self) -> CompareQuestion:
        """The question that all shards answer in part."""
        return CompareQuestion.of(self.task, self.options, self.queries, self.fitted.whole())

    @cached_property
    def digest(self) -> str:
        """By which states know that they answer the same question."""
        return self.question.digest()

    @cached_property
    def listed(self) -> CandidateRows:
        """The rows of the comparison, fitted."""
        return self.question.rows()

    def search(self, shard: Shard, documents: Vectors, progress: Progress | None = None) -> CompareState:
        """Search one shard, as ``search_shard`` does."""
        task, question, rows = self.task, self.question, shard.rows(self.task.documents)
        evaluator = RankingEvaluator(
            task.judgments.between(rows),
            task.excluded.between(rows) if task.excluded is not None else None,
            RankingVectors(question.queries, documents),
            [str(row) for row in rows],  # nothing here asks what documents are called
            metric=question.metric,
            folds=assign_folds(task.facts.units, question.options.folds, question.options.seed),
            progress=progress,
        )
        scorers = list_candidates(evaluator, self.listed.distinct, extra=self.listed.given is None).scorers
        labels, numbers = list_numbers(scorers, question.metric)
        origin = Origin(
            question=digest_of([self.digest.encode(), *(label.encode() for label in labels)]),
            described=question.described(),
            version=__version__,
            documents=task.documents,
            shards=shard.count,
            parts={str(shard.number): digest_of_rows(documents)},
        )
        origin.check_unchanged(self.fitted.origin)
        distinct = list(dict(zip(numbers, scorers, strict=True)).values())
        return CompareState(origin, question, *_shard_lists(evaluator, question, distinct, rows.start))


def list_numbers(scorers: Sequence[Scorer], metric: QualityMetric) -> tuple[list[str], list[int]]:
    """Tell which scorers share a list, since they must come out the same under a metric.

    What is made from the documents, such as a bias, is known by its number alone: in each shard it is made anew.

    Returns:
        What tells each list from others, in every process; and for each scorer the number of its list.
    """
    known: dict[Hashable, int] = {}
    labels: list[str] = []
    numbers = []
    for number, scorer in enumerate(scorers):
        key = plain_key(scorer, metric) if scorer.is_plain else number
        if key not in known:
            known[key] = len(labels)
            labels.append(repr(key) if scorer.is_plain else f"{number} {scorer.name}")
        numbers.append(known[key])
    return labels, numbers


def turns_of(question: CompareQuestion, scorers: int) -> Iterator[Index]:
    """Which queries are searched together by so many scorers of one map: as in one run."""
    return query_turns(len(question.queries), scorers, question.metric.depth)


def lists_by_map(scorers: Sequence[Scorer]) -> list[list[int]]:
    """The numbers of scorers whose transforms do the same, which are searched together."""
    groups: dict[str, list[int]] = {}
    for number, scorer in enumerate(scorers):
        groups.setdefault(scorer.map_key, []).append(number)
    return list(groups.values())


def _shard_lists(
    evaluator: RankingEvaluator, question: CompareQuestion, scorers: Sequence[Scorer], first: int
) -> tuple[Index, Array]:
    """Search the documents of a shard, of which the first has the number ``first`` in the whole corpus.

    The evaluator counts documents from the shard's first, also those that a query must not get.
    """
    vectors, depth = evaluator.vectors, question.metric.depth
    shape = (len(scorers), len(vectors.queries), min(depth, len(vectors.documents)))
    documents, keys = np.full(shape, -1, np.int64), np.full(shape, -np.inf)
    if not len(vectors.documents):
        return documents, keys
    excluded = evaluator.excluded.pairs if evaluator.excluded is not None else None
    for group in lists_by_map(scorers):
        for rows in turns_of(question, len(group)):
            tops = keyed_search(
                vectors.queries[rows],
                vectors.documents,
                [scorers[number] for number in group],
                depth,
                ids=evaluator.document_ids,
                excluded=pairs_of(excluded, rows),
                progress=evaluator.progress,
            )
            for number, lists in zip(group, tops, strict=True):
                documents[number, rows] = lists.documents
                keys[number, rows] = lists.keys
    return np.where(documents >= 0, documents + first, -1), keys


def check_lists(state: CompareState) -> CompareState:
    """Refuse lists that are not those of the question, before anything is merged.

    Raises:
        DataError: A shape or a number is none that the search could have left.
    """
    documents, keys, question = state.documents, state.keys, state.question
    wide = documents.ndim == 3 and documents.shape[2] <= min(question.metric.depth, state.origin.documents)  # noqa: PLR2004
    if not wide or documents.shape != keys.shape or documents.shape[1] != len(question.queries):
        raise DataError(f"lists of shape {documents.shape} do not fit {len(question.queries)} queries")
    if documents.size and not -1 <= documents.min() <= documents.max() < state.origin.documents:
        raise DataError(f"a list names a document beyond the {state.origin.documents} that there are")
    return state
