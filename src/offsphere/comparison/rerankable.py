"""Lists that can be ranked again without the vectors: inner products, lengths and grades of what comes first anywhere.

A similarity is a formula in three numbers, so whoever has these for a query's nearest documents can rank them by any
exponent of the length. The page does that while one drags a slider.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from offsphere.base.arrays import Array, Flags, Index
from offsphere.base.cache import Memo
from offsphere.base.errors import ParameterError
from offsphere.base.short_repr import short_repr
from offsphere.base.shown_ids import shown_id
from offsphere.comparison.query_rows import QueryRows, query_rows, table_texts
from offsphere.comparison.row import Row
from offsphere.comparison.table import Comparison
from offsphere.data.image import Image
from offsphere.data.items import image_in_row
from offsphere.data.ranking_task import RankingTask
from offsphere.data.task import Task
from offsphere.data.task_kinds import as_ranking_task
from offsphere.data.task_vectors import RankingVectors
from offsphere.ranking.reranking import listed_terms
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import NormMix, Polar, Similarity
from offsphere.scoring.transforms import Center, Transform, Whiten
from offsphere.statistics.metrics import parse_metric
from offsphere.statistics.metrics.per_query import discounted_gain

METRIC = "ndcg@10"  # by which lists are judged that were ranked again
EXPONENTS = tuple(np.arange(-1.0, 2.01, 0.25).tolist())  # of the document's length, whose lists are looked at
WEIGHTS = (0.0, 0.5, 0.9, 0.99, 0.999)  # of cosine in a norm-mix, whose lists are looked at
CHAINS: tuple[tuple[Transform, ...], ...] = ((), (Center(),), (Whiten(1.0),))
CANDIDATES = 200  # documents that a query keeps
LISTED = 20  # ranks of each list from which they are taken
MOST_ASKED, MOST_CHANGED, MOST_QUERIES = 100, 30, 400
SHOWN = 5  # documents of a list that one sees


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RerankableLists:
    """For some queries of a task, all that ranking their nearest documents again needs.

    The queries that somebody asked for come first, then those that change most between two scorers, and then others in
    a random order: the first ones are worth looking at, and any beginning of the others stands for all that are left.

    Attributes:
        chains: Scorers whose transforms the numbers are behind, cosine each; the first has none.
        total: How many queries the task has.
        asked: How many of the first queries are there because somebody asked for them.
        changed: How many come after these because they change most.
        queries: Rows of the queries.
        documents: Rows of the documents that any of them has, in the task's order.
        candidates: Positions in ``documents``, ascending; -1 where a query has fewer: (queries, candidates).
        dots: Inner products: (chains, queries, candidates).
        query_lengths: Of the vectors that are asked with: (chains, queries).
        document_lengths: Of the vectors that are searched: (chains, documents).
        grades: What the judgments say of each candidate: (queries, candidates).
        best: The discounted gain of the best list there could be, a number a query.
        whole: Whether the candidates of a query hold the ten first under every setting that was looked at.
        shown: Which documents are among the first five under some setting or scorer.
        compared: Positions of the first five under the two scorers: (2, queries, 5), -1 where there are fewer.
        document_ids: What the documents are called.
        document_texts: What a table shows of them.
        document_images: Those of them that are images.
        query_images: Those of the queries that are images.
        table: The queries that are held, in their order, and then others of the task.
    """

    chains: Sequence[Scorer]
    total: int
    asked: int
    changed: int
    queries: Index
    documents: Index
    candidates: Index
    dots: Array
    query_lengths: Array
    document_lengths: Array
    grades: Array
    best: Array
    whole: Flags
    shown: Flags
    compared: Index
    document_ids: Sequence[str]
    document_texts: Sequence[str]
    document_images: Sequence[Image | None]
    query_images: Sequence[Image | None]
    table: QueryRows

    __repr__ = short_repr

    @property
    def chosen(self) -> int:
        """How many of the first queries were chosen, and stand for none but themselves."""
        return self.asked + self.changed

    def weights(self, count: int) -> Array:
        """What each of the first so many queries stands for, so that a mean over them is one over all queries.

        Args:
            count: How many queries are looked at.

        Returns:
            A weight a query: one for those that were chosen, an equal share of all the others for each of the others.
        """
        chosen = min(self.chosen, count)
        others = count - chosen
        share = (self.total - chosen) / others if others else 1.0
        return np.concatenate([np.ones(chosen), np.full(others, share)])


def rerankable_lists(
    task: RankingTask,
    vectors: RankingVectors,
    table: Comparison,
    compared: tuple[Row, Row],
    *,
    show: Sequence[str] = (),
    seed: int = 0,
    memo: Memo | None = None,
) -> RerankableLists | None:
    """Gather what a page needs to rank again as one turns the exponent, whitens or mixes lengths in.

    Args:
        task: What the queries and documents are.
        vectors: Of the task.
        table: The comparison, whose fitted transforms are used.
        compared: The two scorers that are shown side by side.
        show: Ids of queries that come first.
        seed: Of the order of the queries that nobody asked for and that do not change most.
        memo: Keeps what was searched.

    Returns:
        The lists; nothing where the two sides cannot be compared without a learned map.
    """
    metric = parse_metric(METRIC)
    if vectors.queries.shape[1] != vectors.documents.shape[1] or not task.fits(metric):
        return None
    asked_for = queries_to_show(task, show)
    chosen, changed = _chosen_queries(task, compared, asked_for, seed)
    part = task.only(chosen)
    asked = np.asarray(vectors.queries[chosen])
    of_part = replace(vectors, queries=asked, query_tokens=None)
    evaluator = part.evaluator(of_part, metric, np.zeros(len(chosen), np.int64), memo=memo)
    chains = _chains(table, compared[0].scorer)
    settings = [replace(chain, similarity=similarity) for chain in chains for similarity in _similarities()]
    listed = np.stack([top.documents for top in evaluator.lists(settings, LISTED)])  # (settings, queries, ranks)
    pair = np.stack([top.documents for top in evaluator.lists([row.scorer for row in compared], SHOWN)])
    pools = [_pool(listed[:, query], pair[:, query]) for query in range(len(chosen))]
    rows = np.full((len(chosen), max(len(pool) for pool, _ in pools)), -1)
    for query, (pool, _) in enumerate(pools):
        rows[query, : len(pool)] = pool
    documents = np.unique(rows[rows >= 0])
    first = np.concatenate([listed[:, :, :SHOWN].ravel(), pair.ravel()])
    terms = [listed_terms(asked, vectors.documents, np.maximum(rows, 0), chain) for chain in chains]
    return RerankableLists(
        chains=chains,
        total=task.units,
        asked=len(asked_for),
        changed=changed,
        queries=chosen,
        documents=documents,
        candidates=_positions(rows, documents),
        dots=np.stack([each.dots for each in terms]),
        query_lengths=np.stack([each.query_lengths for each in terms]),
        document_lengths=np.stack([_spread(each.document_lengths, rows, documents) for each in terms]),
        grades=evaluator.judgments.gains(rows),
        best=discounted_gain(evaluator.judgments.ideal()[:, : metric.depth]),
        whole=np.array([whole for _, whole in pools]),
        shown=np.isin(documents, first),
        compared=_positions(pair, documents),
        document_ids=[task.document_ids[row] for row in documents.tolist()],
        document_texts=table_texts(task.document_texts, documents),
        document_images=[image_in_row(task.document_texts, row) for row in documents.tolist()],
        query_images=[image_in_row(task.query_texts, row) for row in chosen.tolist()],
        table=query_rows(task, *compared, chosen),
    )


def queries_to_show(task: Task, show: Sequence[str]) -> Index:
    """The rows of queries that somebody asked for by their ids, each once.

    Raises:
        ParameterError: The task has no queries, none of such an id that is judged, or they are too many.
    """
    ranking = as_ranking_task(task)
    names = list(dict.fromkeys(show))
    if names and ranking is None:
        raise ParameterError(f"{task.name} has {task.unit}, and no lists of results that could be shown")
    if len(names) > MOST_ASKED:
        raise ParameterError(f"{len(names)} queries to show: a page has room for {MOST_ASKED} that one asks for")
    known = {name: row for row, name in enumerate(ranking.query_ids)} if names and ranking is not None else {}
    for name in names:
        if name not in known:
            raise ParameterError(f"{task.name} has no query {shown_id(name)!r} with a relevant document to show")
    return np.array([known[name] for name in names], np.int64)


def _chosen_queries(task: RankingTask, compared: tuple[Row, Row], asked_for: Index, seed: int) -> tuple[Index, int]:
    """The queries to hold, and how many of them are there for their change, after those that were asked for."""
    first, second = (row.values for row in compared)
    gains = first - second if first is not None and second is not None else np.zeros(task.units)
    order = np.argsort(-np.abs(gains), kind="stable")
    order = order[~np.isin(order, asked_for)]
    others = np.random.default_rng(seed).permutation(order[MOST_CHANGED:])
    chosen = np.concatenate([asked_for, order[:MOST_CHANGED], others])[:MOST_QUERIES]
    return chosen, min(MOST_CHANGED, len(order))


def _chains(table: Comparison, recommended: Scorer) -> list[Scorer]:
    """Raw vectors, and those of the wanted transforms that the table has fitted, the recommended ones included."""
    fitted = {_chain_key(row.scorer): row.scorer for row in reversed(table.rows)}
    fitted[_chain_key(recommended)] = recommended
    wanted = [tuple(transform.key for transform in chain) for chain in CHAINS]
    keys = dict.fromkeys([key for key in wanted if key in fitted or not key] + [_chain_key(recommended)])
    return [Scorer(transforms=fitted[key].transforms, map=fitted[key].map) if key else Scorer() for key in keys]


def _chain_key(scorer: Scorer) -> tuple[str, ...]:
    return tuple(transform.key for transform in scorer.transforms)


def _similarities() -> list[Similarity]:
    """The settings whose first documents are kept, whatever is set between them."""
    return [*(Polar(1.0, g) for g in EXPONENTS), *(NormMix(weight) for weight in WEIGHTS)]


def _pool(listed: Index, pair: Index) -> tuple[Index, bool]:
    """The documents of one query that stand highest under any setting, ascending; whether all tens fit in.

    ``listed`` (settings, ranks) is read rank by rank: all first documents, all second ones, and so on. What the two
    compared scorers show, ``pair``, is in it too.
    """
    by_rank = np.concatenate([pair.ravel(), listed.T.ravel()])
    documents, first_rank = np.unique(by_rank, return_index=True)
    known = documents >= 0
    documents, first_rank = documents[known], first_rank[known]
    tens = int((first_rank < pair.size + parse_metric(METRIC).depth * len(listed)).sum())
    return np.sort(documents[np.argsort(first_rank)[:CANDIDATES]]), tens <= CANDIDATES


def _positions(rows: Index, documents: Index) -> Index:
    """Where each row stands among the documents; -1 for none."""
    return np.where(rows >= 0, np.searchsorted(documents, rows), -1)


def _spread(listed_lengths: Array, rows: Index, documents: Index) -> Array:
    """The length of each document, from the lists it is in."""
    lengths = np.zeros(len(documents))
    known = rows >= 0
    lengths[np.searchsorted(documents, rows[known])] = listed_lengths[known]
    return lengths
