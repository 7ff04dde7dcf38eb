"""The lists of a scorer, for whoever joins them with others or ranks them again."""

from __future__ import annotations

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.comparison.list_source import ListRequest, NotListedError
from offsphere.data.items import kinds_of, texts_alone
from offsphere.data.ranking_task import RankingTask
from offsphere.data.scored_lists import ScoredLists
from offsphere.data.task_kinds import as_ranking
from offsphere.data.task_vectors import RankingVectors
from offsphere.ranking.search import search_in_turns
from offsphere.scoring.scorer import Scorer


def ranking_of(asked: ListRequest, what: str) -> tuple[RankingTask, RankingVectors]:
    """The task and its vectors, known to have lists; a note that ``what`` falls out where it has none."""
    ranking = as_ranking(asked.task, asked.vectors)
    if ranking is None:
        unit = asked.task.unit
        raise NotListedError(f"{what} is left out: {asked.task.name} has {unit}, and no lists that could be ranked")
    return ranking


def texts_of(asked: ListRequest, what: str) -> tuple[list[str], list[str]]:
    """The texts of both sides; a note that ``what`` falls out where there are images, or vectors alone."""
    first, second = (side.items for side in asked.task.sides)
    if first is None or second is None:
        raise NotListedError(f"{what} is left out: it reads texts, and {asked.task.name} has ids and vectors alone")
    if kinds_of([*first, *second]) == ["text"]:
        return texts_alone(first, what), texts_alone(second, what)
    raise NotListedError(f"{what} is left out: it reads texts, and {asked.task.name} has images")


def dense_lists(asked: ListRequest, scorer: Scorer, depth: int, what: str) -> ScoredLists:
    """Search for all queries, exactly.

    Args:
        asked: the task and its vectors.
        scorer: fitted where it has transforms.
        depth: how many documents a query gets, at most all there are.
        what: who needs the lists, for a note where there can be none.
    """
    task, vectors = ranking_of(asked, what)
    depth = min(depth, len(vectors.documents))
    documents = np.zeros((len(vectors.queries), depth), np.int64)
    scores = np.zeros(documents.shape)
    for chosen, (top,) in search_in_turns(
        vectors.queries, vectors.documents, [scorer], depth, ids=task.document_ids, progress=asked.progress
    ):
        documents[chosen], scores[chosen] = top.documents, top.scores
    return ScoredLists.ranked(np.where(np.isfinite(scores), documents, -1), scores)


def depth_for(asked: ListRequest, least: int) -> int:
    """How deep lists must be for the metric, beyond what each query must not get, and no less than ``least``."""
    queries, _ = asked.task.excluded_pairs()
    most = int(np.bincount(queries).max()) if len(queries) else 0
    return max(asked.metric.depth + most, least)


def first_pairs(lists: ScoredLists, top: int) -> tuple[Index, Index]:
    """Each query with each of the first ``top`` documents of its list: rows of both sides."""
    assert lists.documents is not None  # those of a ranking task
    listed = lists.documents[:, :top]
    known = listed >= 0
    return np.nonzero(known)[0], listed[known]


def ranked_again(lists: ScoredLists, top: int, scores: Array) -> ScoredLists:
    """The lists with their first documents in another order; what is behind them stays behind them.

    Args:
        lists: as they were found.
        top: how many documents of each are ranked again.
        scores: of each of ``first_pairs``; what has no number is the last of these.
    """
    assert lists.documents is not None  # those of a ranking task
    known = lists.documents[:, :top] >= 0
    lowest = np.nanmin(scores, initial=0.0)
    again = np.where(lists.documents >= 0, -2.0 - np.arange(lists.depth), -np.inf)
    again[:, :top][known] = np.where(np.isnan(scores), -1.0, scores - lowest)
    return ScoredLists.ranked(lists.documents, again)
