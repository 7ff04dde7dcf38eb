"""What to set in each search engine so that it ranks as a scorer does, in the engine's own words.

The words come from the engine's own file, and what they are chosen by is what ``export`` goes by. A scorer that does
not lower can only re-rank what cosine finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from offsphere.base.errors import MissingExtraError, UnknownNameError
from offsphere.engines.collection import Layout
from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric
from offsphere.engines.registry import ENGINES
from offsphere.engines.shipping.serving import Serving, servings
from offsphere.engines.shipping.snippets import query_snippet
from offsphere.engines.shipping.strategy import Strategy
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import Agreement

SHOWN = 10  # documents that a snippet asks for
AS_DISTANCE = "one more coordinate makes it a distance: offsphere export does it"
UNTRIED = "All of this is from its documentation: it was not tried here; offsphere probe shows how one would."
RERANK = "no engine serves it: fetch a few hundred by cosine, then re-rank with scorer.score_pairs"


class Setting(NamedTuple):
    """What to store and what to set in one engine, and how to ask it."""

    engine: str
    store: str
    query: str
    setting: str
    score: str = ""  # how its scores become the metric's value
    notes: tuple[str, ...] = ()  # what bites, and that nobody tried it where nobody did
    target: str = ""  # where an export could go; empty for engines that we only know the settings of
    snippet: str = ""  # the Python that asks it


def engine_settings(scorer: Scorer, level: Agreement = "query") -> list[Setting]:
    """Tell for each engine what to store, what to ask with and what to set, so that it ranks as a scorer does.

    Args:
        scorer: what is to be served.
        level: what must agree: one ``query``'s order, or the ``order`` of all pairs, for which a query's own length
            counts too.

    Returns:
        A setting for each engine of the registry.

    Example:
        >>> import offsphere as osp
        >>> from offsphere.engines import engine_settings
        >>> engine_settings(osp.parse_scorer("dot"))[1].setting
        'VectorParams(distance=Distance.DOT)'
    """
    if not scorer.similarity.lowers:
        return [Setting(engine.name, "vectors as they are", "as it is", RERANK) for engine in ENGINES]
    return [_setting(scorer, engine, level) for engine in ENGINES]


def setting_for(settings: Sequence[Setting], engine: str) -> Setting:
    """Find the setting of one engine, however its name is capitalised.

    Args:
        settings: As ``engine_settings`` gives them.
        engine: The name of the engine.

    Returns:
        Its setting.

    Raises:
        UnknownNameError: Where there is none of that name.
    """
    for setting in settings:
        if setting.engine.casefold() == engine.casefold():
            return setting
    raise UnknownNameError("engine", engine, [setting.engine for setting in settings])


def _setting(scorer: Scorer, engine: Engine, level: Agreement) -> Setting:
    """The plainest way in which an engine serves a scorer, in its own words."""
    ways = servings(scorer, engine, level)
    way = ways[0] if ways else _by_distance(scorer)
    facts = engine.metrics[way.metric]
    return Setting(
        engine.name,
        *(way.words if ways else (AS_DISTANCE, AS_DISTANCE)),
        facts.setting,
        score=facts.score or facts.returned.formula(way.metric.value_name),
        notes=engine.notes if engine.tested else (*engine.notes, UNTRIED),
        target=str(engine.example) if engine.open is not None else "",
        snippet=_snippet(engine, way) if engine.open is not None else "",
    )


def _by_distance(scorer: Scorer) -> Serving:
    """How queries are made for an engine that has distances only; the radius changes documents, not queries."""
    return Serving(scorer=scorer, metric=Metric.EUCLIDEAN, lowered=True, radius=1.0)


def _snippet(engine: Engine, way: Serving) -> str:
    """The Python that asks a collection of the engine; nothing where a package that writes it is missing."""
    try:
        with engine.at(engine.example) as collection:
            strategy = Strategy(serving=way, index=collection.index_kinds[0])
            layout = Layout(0, way.metric, strategy.index)
            return query_snippet(strategy, collection, layout, SHOWN, Path())
    except MissingExtraError:
        return ""
