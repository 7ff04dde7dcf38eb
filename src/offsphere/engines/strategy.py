"""A strategy: one way to serve a scorer by an engine, down to the index, its effort and how numbers are stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from offsphere.base.errors import OffsphereError, ParameterError
from offsphere.engines.bands import BandedCollection
from offsphere.engines.collection import Collection, IndexKind, Layout, NumberForm
from offsphere.engines.corpus import Corpus
from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric, ScoreFormula
from offsphere.engines.serving import Serving, as_distance, placed_rows, servings
from offsphere.engines.target import Target
from offsphere.engines.verification import CollectionTrial, Verification, verify
from offsphere.scoring.scorer import Scorer

DOUBLINGS = 5  # of a graph's effort, until the goal is met
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
    seen = verify(collection, strategy.serving, returned, corpus, trial, effort=strategy.effort)
    exact = strategy.index == "exact" and strategy.stored != "binary"  # bits only find candidates
    if exact or asked.effort is not None:
        return strategy, seen
    effort = max(FIRST_EFFORT, asked.k)
    for _ in range(DOUBLINGS):
        if seen.recall >= asked.goal:
            break
        strategy = replace(strategy, effort=effort)
        seen = verify(collection, strategy.serving, returned, corpus, trial, effort=effort)
        effort *= 2
    return strategy, seen
