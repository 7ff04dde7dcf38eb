"""Whether an engine returns what was measured: real queries, the engine's answer against the exact search."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Index, Vectors
from offsphere.base.errors import DataError, VectorError
from offsphere.base.plain import plain
from offsphere.base.progress import Progress
from offsphere.engines.collection import Collection, Hits
from offsphere.engines.metric import ScoreFormula
from offsphere.engines.shipping.corpus import Corpus
from offsphere.engines.shipping.serving import Serving
from offsphere.ranking.search import TopK, search
from offsphere.scoring.scorer import Scorer

MOST_QUERIES = 100  # that a collection is tried with
TIE = 1e-5  # of the largest score: a document this near the last one of the exact answer is as good


class CollectionTrial(NamedTuple):
    """Queries to try a collection with, as the model gave them, and the exact answer."""

    queries: Vectors
    made_of: str  # "queries" or "documents"
    exact: TopK
    k: int


class Verification(NamedTuple):
    """What trying a collection showed: recall, its worst query, the error of scores, and the time.

    ``score_error`` is the largest difference between the engine's score, turned back into ours, and the exact value of
    the same document, over the largest value; none where nothing was returned.
    """

    k: int
    queries: int
    made_of: str
    recall: float  # of the exact k best, the mean over queries
    worst: float  # the recall of the worst query
    short: int  # queries that got fewer than k
    score_error: float | None
    milliseconds: float  # a query, one at a time or as the engine takes them
    fewest: int  # documents that a query got

    def to_json(self) -> dict[str, Any]:
        """Give it as plain values, for a file."""
        values: dict[str, Any] = plain(self)
        return values


def make_trial(
    corpus: Corpus, scorer: Scorer, k: int, seed: int = 0, progress: Progress | None = None
) -> CollectionTrial:
    """Choose queries, and find their exact answer; documents serve as queries where there are none.

    Args:
        corpus: What is served.
        scorer: By which the exact answer is found.
        k: How many documents a query gets.
        seed: Of the choice.
        progress: Is told how many documents were searched.
    """
    source = corpus.asking
    if source is corpus.vectors:
        _check_documents_ask(scorer, corpus)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(source))[:MOST_QUERIES])
    queries = np.ascontiguousarray(source[chosen], np.float32)
    exact = search(queries, corpus.vectors, [scorer], k, ids=corpus.ids, progress=progress)[0]
    return CollectionTrial(
        queries, "queries" if source is corpus.queries else "documents", exact, min(k, len(corpus.ids))
    )


def _check_documents_ask(scorer: Scorer, corpus: Corpus) -> None:
    """Refuse documents in the place of queries where the scorer was learned for queries of another model."""
    try:
        scorer.transform(corpus.vectors[:1], "query")
    except VectorError as error:
        raise VectorError(
            f"documents cannot ask in the place of queries ({error}): give vectors of some queries to try it with"
        ) from error


def verify(
    collection: Collection,
    serving: Serving,
    returned: ScoreFormula,
    corpus: Corpus,
    trial: CollectionTrial,
    *,
    effort: int | None = None,
) -> Verification:
    """Ask a collection, and compare its answer with the exact one.

    Args:
        collection: A filled one.
        serving: How it serves the scorer.
        returned: How the engine returns the metric.
        corpus: What it was filled with.
        trial: The queries, and the exact answer.
        effort: How many candidates are looked at; what the engine takes without.
    """
    asked = serving.queries(trial.queries)
    collection.search(asked[:1], trial.k, effort)  # whatever is loaded when it is first asked
    started = time.perf_counter()
    hits = collection.search(asked, trial.k, effort)
    milliseconds = 1e3 * (time.perf_counter() - started) / max(len(asked), 1)
    return judge_hits(hits, serving, returned, corpus, trial, milliseconds)


def judge_hits(
    hits: Hits,
    serving: Serving,
    returned: ScoreFormula,
    corpus: Corpus,
    trial: CollectionTrial,
    milliseconds: float,
) -> Verification:
    """Compare what a collection answered to the queries of a trial with the exact answer.

    Args:
        hits: The answers.
        serving: How the collection serves the scorer.
        returned: How the engine returns the metric.
        corpus: What the collection was filled with.
        trial: The queries, and the exact answer.
        milliseconds: What a query took.
    """
    asked, rows = serving.queries(trial.queries), _rows_of(hits, corpus)
    recalls, errors = [], [0.0]
    anything = False
    for number, (answer, scores) in enumerate(zip(rows, hits.scores, strict=True)):
        exact_rows, exact_scores = trial.exact.documents[number], trial.exact.scores[number]
        placed = np.isfinite(exact_scores)
        exact_rows, exact_scores = exact_rows[placed], exact_scores[placed]
        query = trial.queries[number : number + 1]
        values = _values(serving, corpus, query, asked[number : number + 1], answer)
        recalls.append(_recall(answer, values, exact_rows, exact_scores))
        if len(answer):
            anything = True
            ours = serving.values(query, returned.value(np.asarray(scores))[None])[0]
            scale = np.abs(values).max() or 1.0
            errors.append(float(np.abs(ours - values).max() / scale))
    return Verification(
        k=trial.k,
        queries=len(rows),
        made_of=trial.made_of,
        recall=float(np.mean(recalls)),
        worst=float(np.min(recalls)),
        short=sum(
            len(answer) < min(trial.k, int(np.isfinite(row).sum()))
            for answer, row in zip(rows, trial.exact.scores, strict=True)
        ),
        score_error=max(errors) if anything else None,
        milliseconds=milliseconds,
        fewest=min(len(answer) for answer in rows),
    )


def _rows_of(hits: Hits, corpus: Corpus) -> list[Index]:
    """The rows in the corpus of what an engine returned."""
    wanted = {name for answer in hits.ids for name in answer}
    rows = {name: row for row, name in enumerate(corpus.ids) if name in wanted}
    if len(rows) < len(wanted):
        other = min(wanted - rows.keys())
        raise DataError(f"the engine returned {other!r}, which is none of the documents: it was changed meanwhile")
    return [np.array([rows[name] for name in answer], np.int64) for answer in hits.ids]


def _values(serving: Serving, corpus: Corpus, query: Vectors, asked: Vectors, rows: Index) -> Array:
    """The exact values of some documents for one query, from the vectors that are served."""
    if not len(rows):
        return np.zeros(0)
    order = np.argsort(rows, kind="stable")  # a memory map is read forwards
    vectors = np.ascontiguousarray(corpus.vectors[rows[order]], np.float32)
    biases = None
    if serving.scorer.bias is not None:
        looked_up = serving.biases([corpus.ids[row] for row in rows[order].tolist()], len(rows))
        biases = looked_up.of_block(vectors) if looked_up is not None else None
    stored = serving.documents(vectors, biases)
    values = np.empty(len(rows))
    values[order] = serving.values(query, serving.metric.compute(asked, stored[None]))[0]
    return values


def _recall(answer: Index, values: Array, exact: Index, scores: Array) -> float:
    """The share of the exact answer that was returned; one that scores as well as its last counts."""
    if not len(exact):
        return 1.0
    last = scores[-1] - TIE * np.abs(scores).max()
    good = np.isin(answer, exact) | (values >= last)
    return min(int(good.sum()), len(exact)) / len(exact)
