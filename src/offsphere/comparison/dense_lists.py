"""The lists of a scorer, for whoever joins them with others or ranks them again."""

from __future__ import annotations

import numpy as np

from offsphere.comparison.list_source import Asked, NotListedError
from offsphere.data.items import kinds_of, texts_alone
from offsphere.data.ranking_task import RankingTask
from offsphere.data.scored_lists import ScoredLists
from offsphere.data.task_vectors import RankingVectors
from offsphere.ranking.search import search_in_turns
from offsphere.scoring.scorer import Scorer
from offsphere.vectors.blocks import Blocks
from offsphere.vectors.moments import Moments


def ranking_of(asked: Asked, what: str) -> tuple[RankingTask, RankingVectors]:
    """The task and its vectors, known to have lists; a note that ``what`` falls out where it has pairs."""
    task, vectors = asked.task, asked.vectors
    if not isinstance(task, RankingTask) or not isinstance(vectors, RankingVectors):
        raise NotListedError(f"{what} is left out: {task.name} has pairs, and no lists that could be ranked")
    return task, vectors


def texts_of(asked: Asked, what: str) -> tuple[list[str], list[str]]:
    """The texts of both sides; a note that ``what`` falls out where there are images, or vectors alone."""
    first, second = (side.items for side in asked.task.sides)
    if first is None or second is None:
        raise NotListedError(f"{what} is left out: it reads texts, and {asked.task.name} has ids and vectors alone")
    if kinds_of([*first, *second]) == ["text"]:
        return texts_alone(first, what), texts_alone(second, what)
    raise NotListedError(f"{what} is left out: it reads texts, and {asked.task.name} has images")


def fitted_scorer(scorer: Scorer, vectors: RankingVectors) -> Scorer:
    """The scorer, fitted on the documents where it has transforms that are not."""
    if scorer.transforms and scorer.map is None:
        return scorer.fit(Moments.over(Blocks.of(vectors.fitted_on)))
    return scorer


def dense_lists(asked: Asked, scorer: Scorer, depth: int, what: str) -> ScoredLists:
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


def depth_for(asked: Asked, least: int) -> int:
    """How deep lists must be for the metric, beyond what each query must not get, and no less than ``least``."""
    queries, _ = asked.task.excluded_pairs()
    most = int(np.bincount(queries).max()) if len(queries) else 0
    return max(asked.metric.depth + most, least)
