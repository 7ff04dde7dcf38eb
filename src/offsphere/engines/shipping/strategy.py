"""A strategy: one way to serve a scorer by an engine, down to the index, its effort and how numbers are stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from offsphere.base.errors import OffsphereError, ParameterError
from offsphere.engines.collection import Collection, IndexKind, Layout, NumberForm
from offsphere.engines.engine import Engine
from offsphere.engines.first_pass import candidates
from offsphere.engines.metric import Metric, ScoreFormula
from offsphere.engines.shipping.bands import BandedCollection
from offsphere.engines.shipping.corpus import Corpus
from offsphere.engines.shipping.serving import Serving, as_distance, placed_rows, servings
from offsphere.engines.shipping.verification import CollectionTrial, Verification, verify
from offsphere.engines.target import Target
from offsphere.scoring.scorer import Scorer

MOST_EFFORTS = 5  # that are tried beside the engine's own, each twice the one before
FIRST_EFFORT = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportWishes:
    """What a user wants of an export; what is none is chosen."""

    k: int
    goal: float
    index: IndexKind | None = None
    effort: int | None = None
    stored: NumberForm = "float32"
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """One way to serve a scorer.

    Attributes:
        serving: What is stored, and by which metric it is asked for.
        index: exact, graph or lists.
        effort: How many candidates a graph looks at, or lists; what the engine takes where nothing is said.
        stored: How numbers are stored.
        edges: Lengths between which documents have an index each, whose answers are merged; one index without.
    """

    serving: Serving
    index: IndexKind
    effort: int | None = None
    stored: NumberForm = "float32"
    edges: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """What it is, in a few words."""
        metric = "inner product as distance" if self.serving.augmented else str(self.serving.metric)
        parts = [metric, {"exact": "exact", "graph": "graph", "lists": "inverted lists"}[self.index]]
        parts += [f"effort {self.effort}"] if self.effort is not None else []
        parts += [f"{len(self.edges) + 1} bands of length"] if self.edges else []
        parts += [f"stored as {self.stored}"] if self.stored != "float32" else []
        return ", ".join(parts)

    @property
    def has_effort(self) -> bool:
        """Whether it may find more when it looks at more: an exact index does not, but where bits find candidates."""
        return self.index != "exact" or self.stored == "binary"

    def to_json(self) -> dict[str, Any]:
        """Give it as plain values, for a file."""
        serving = self.serving
        return {
            "strategy": self.name,
            "metric": str(serving.metric),
            "lowered": serving.lowered,
            "as_given": serving.as_given,
            "augmented": serving.augmented,
            "index": self.index,
            "effort": self.effort,
            "stored": self.stored,
            "bands": len(self.edges) + 1,
        }

    def layout(self, corpus: Corpus) -> Layout:
        """What a collection for it is made for.

        Raises:
            OffsphereError: There is nothing to store.
        """
        width, rows = self.serving.queries(corpus.asking[:1]).shape[1], placed_rows(corpus, self.serving)
        if not rows:
            raise OffsphereError(
                f"no document has a place in the ranking by {self.serving.scorer.name}, so there is nothing to store"
            )
        return Layout(width, self.serving.metric, self.index, self.stored, rows, self.serving.as_given)

    def open(self, engine: Engine, where: Target) -> Collection:
        """Open its collection, or the several that it has."""
        if not self.edges:
            return engine.at(where)
        return BandedCollection(engine, where, self.edges, self.serving.metric)


def checked_index(engine: Engine, collection: Collection, asked: IndexKind | None) -> IndexKind:
    """The index that was asked for, or what suits the engine.

    Raises:
        ParameterError: The engine has no such index.
    """
    kinds = collection.index_kinds
    if asked is not None and asked not in kinds:
        raise ParameterError(f"{engine.name} has no {asked} index: it has {', '.join(kinds)}")
    return asked or kinds[0]


def plain_strategy(engine: Engine, where: Target, scorer: Scorer, corpus: Corpus, asked: ExportWishes) -> Strategy:
    """The strategy that needs the least explanation: the engine's own metric, else inner product, else distance.

    Raises:
        ParameterError: The engine has no such index, or does not store numbers so.
        MissingExtraError: The engine's package is not installed.
    """
    with engine.at(where) as collection:
        collection.check_packages()
        index, forms = checked_index(engine, collection, asked.index), collection.stored_forms
    if asked.stored not in forms:
        raise ParameterError(f"{engine.name} does not store vectors as {asked.stored}: it has {', '.join(forms)}")
    ways = servings(scorer, engine)
    if not ways and Metric.EUCLIDEAN not in engine.metrics:
        raise OffsphereError(f"{engine.name} has none of the metrics by which {scorer.name} could be served")
    way = ways[0] if ways else as_distance(scorer, corpus)
    return Strategy(serving=way, index=index, effort=asked.effort, stored=asked.stored)


def rising_efforts(strategy: Strategy, k: int, rows: int, largest: int | None = None) -> Iterator[int]:
    """Efforts to try after that of a strategy, each twice the one before, until everything is looked at.

    A graph looks at k candidates whatever it is told, so that only more of them are another search.

    Args:
        strategy: One that found too little, with its effort or the engine's own.
        k: How many documents a query gets.
        rows: In the collection.
        largest: The effort beyond which a graph of the engine does not go.

    Example:
        >>> import offsphere as osp
        >>> from offsphere.engines.metric import Metric
        >>> from offsphere.engines.shipping.serving import Serving
        >>> from offsphere.engines.shipping.strategy import Strategy, rising_efforts
        >>> serving = Serving(scorer=osp.Scorer(), metric=Metric.COSINE, lowered=False)
        >>> graph = Strategy(serving=serving, index="graph")
        >>> list(rising_efforts(graph, 10, 100_000)), list(rising_efforts(graph, 1_000, 9_000))
        ([64, 128, 256, 512, 1024], [2000, 4000, 8000, 16000])
    """
    if not strategy.has_effort:
        return
    looked, most = strategy.effort or 0, None
    if strategy.stored == "binary":
        looked = max(looked, candidates(k, None))
    elif strategy.index == "graph":
        looked, most = max(looked, k), largest
    for _ in range(MOST_EFFORTS):
        if looked >= min(rows, most or rows):
            return
        looked = FIRST_EFFORT if looked < FIRST_EFFORT else 2 * looked
        looked = min(looked, most or looked)
        yield looked


def with_effort(
    strategy: Strategy,
    collection: Collection,
    returned: ScoreFormula,
    corpus: Corpus,
    trial: CollectionTrial,
    asked: ExportWishes,
) -> tuple[Strategy, Verification]:
    """Try a filled collection; where an approximate index returns too little, let it look at more candidates.

    Returns:
        The strategy with the least effort that meets the goal, or the greatest that was tried, and what came of it.
    """
    *_, last = efforts_tried(strategy, collection, returned, corpus, trial, asked)
    return last


def efforts_tried(
    strategy: Strategy,
    collection: Collection,
    returned: ScoreFormula,
    corpus: Corpus,
    trial: CollectionTrial,
    asked: ExportWishes,
) -> Iterator[tuple[Strategy, Verification]]:
    """Try a filled collection with rising effort until the goal is met, or once with the effort that was asked for.

    Yields:
        The strategy with each effort, and what came of it.
    """
    seen = verify(collection, strategy.serving, returned, corpus, trial, effort=strategy.effort)
    yield strategy, seen
    if asked.effort is not None:
        return
    for effort in rising_efforts(strategy, asked.k, len(corpus.ids), collection.largest_effort):
        if seen.recall >= asked.goal:
            return
        strategy = replace(strategy, effort=effort)
        seen = verify(collection, strategy.serving, returned, corpus, trial, effort=effort)
        yield strategy, seen
