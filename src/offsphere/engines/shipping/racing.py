"""Racing strategies: each is built from the user's own vectors in a scratch collection, and tried with real queries.

Textbooks say that graphs are bad at inner products and that one more coordinate cures it. Often neither is true of the
vectors at hand (Morozov & Babenko 2018 search by inner product directly; lengths decide), so nothing is assumed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from offsphere.base.progress import Progress, in_phase
from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric
from offsphere.engines.shipping.bands import length_edges
from offsphere.engines.shipping.corpus import Corpus
from offsphere.engines.shipping.filling import Filling
from offsphere.engines.shipping.serving import Serving, as_distance, servings, stored_blocks
from offsphere.engines.shipping.strategy import ExportWishes, Strategy, efforts_tried, plain_strategy
from offsphere.engines.shipping.verification import CollectionTrial, Verification, make_trial
from offsphere.engines.target import Target
from offsphere.scoring.scorer import Scorer
from offsphere.vectors.lengths import lengths

MOST_DOCUMENTS = 50_000  # of which indexes are built for a race; a random part of a larger corpus
BANDS = 8

Raced = Sequence[tuple[Strategy, Verification]]


def race(
    engine: Engine,
    where: Target,
    scorer: Scorer,
    corpus: Corpus,
    asked: ExportWishes,
    trial: CollectionTrial,
    progress: Progress | None = None,
) -> list[tuple[Strategy, Verification]]:
    """Build each strategy beside the target, ask it with rising effort until it meets the goal, and remove it again.

    Of a large corpus a part is raced. A query's time in it is that of the part, but where every vector is compared:
    this grows as the corpus does, and is told as it would be for all.

    Returns:
        Every strategy that was tried and what came of it, the quickest query first.
    """
    part = _part(corpus, asked.seed)
    if part is not corpus:
        trial = make_trial(part, scorer, asked.k, asked.seed)
    results = []
    for number, strategy in enumerate(strategies(engine, where, scorer, part, asked)):
        scratch = where.beside(f"offsphere_race_{number}")
        returned = engine.metrics[strategy.serving.metric].returned
        with strategy.open(engine, scratch) as collection:
            try:
                filling = Filling(collection, strategy.serving, part, strategy.layout(part), str(scratch))
                filling.run(replace=True, progress=in_phase(progress, strategy.name))
                for tried, seen in efforts_tried(strategy, collection, returned, part, trial, asked):
                    results.append((tried, _for_all(tried, seen, part, corpus)))
            finally:
                collection.remove()
    return sorted(results, key=lambda result: result[1].milliseconds)


def strategies(
    engine: Engine, where: Target, scorer: Scorer, corpus: Corpus, asked: ExportWishes
) -> Iterator[Strategy]:
    """The strategies that an engine can be raced with, each to be built once."""
    plain = plain_strategy(engine, where, scorer, corpus, asked)
    with engine.at(where) as collection:
        kinds = [asked.index] if asked.index is not None else collection.index_kinds
    ways = servings(scorer, engine) or [plain.serving]
    for kind in kinds:
        for way in ways:
            yield replace(plain, serving=way, index=kind)
        if kind == "exact":
            continue
        if Metric.EUCLIDEAN in engine.metrics and not ways[0].augmented and ways[0].metric is not Metric.EUCLIDEAN:
            yield replace(plain, serving=as_distance(scorer, corpus), index=kind)
        edges = _edges(corpus, ways[-1]) if ways[-1].metric is Metric.INNER_PRODUCT else ()
        if edges:
            yield replace(plain, serving=ways[-1], index=kind, edges=edges)


def cheapest(raced: Raced, goal: float) -> Strategy:
    """The strategy with the quickest queries of those that meet the goal; where none does, the one that finds most."""
    good = [strategy for strategy, seen in raced if seen.recall >= goal]
    return good[0] if good else max(raced, key=lambda result: result[1].recall)[0]


def documents_raced(corpus: Corpus) -> int:
    """How many documents of a corpus a race is run on."""
    return min(len(corpus.ids), MOST_DOCUMENTS)


def whole_corpus(strategy: Strategy, corpus: Corpus) -> Strategy:
    """A strategy that was chosen on a part of a corpus, for all of it: a coordinate may have to reach further."""
    serving = strategy.serving
    return replace(strategy, serving=as_distance(serving.scorer, corpus)) if serving.augmented else strategy


def _edges(corpus: Corpus, way: Serving) -> tuple[float, ...]:
    """The lengths between bands; none where all documents are about as long."""
    stored = np.concatenate([lengths(block.rows) for block in stored_blocks(corpus, way)])
    return length_edges(stored, BANDS) if np.ptp(stored) > 1e-3 * stored.max(initial=0.0) else ()


def _for_all(strategy: Strategy, seen: Verification, part: Corpus, corpus: Corpus) -> Verification:
    """What came of a trial on a part, with the time of a search that compares all made that of the corpus."""
    if strategy.index != "exact":
        return seen
    return seen._replace(milliseconds=seen.milliseconds * len(corpus.ids) / len(part.ids))


def _part(corpus: Corpus, seed: int) -> Corpus:
    """The corpus, or a random part of a large one."""
    count = documents_raced(corpus)
    if count == len(corpus.ids):
        return corpus
    rows = np.sort(np.random.default_rng(seed).permutation(len(corpus.ids))[:count])
    vectors = np.ascontiguousarray(corpus.vectors[rows], np.float32)
    return Corpus(vectors, [corpus.ids[row] for row in rows.tolist()], corpus.queries)
