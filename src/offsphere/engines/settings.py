"""What to set in each search engine so that it ranks as a scorer does, in the engine's own words.

An engine serves cosine, inner product or Euclidean distance. Any other scorer that lowers is served as inner product of
the vectors that ``scorer.lower()`` makes; one that does not can only re-rank what cosine finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from offsphere.base.errors import UnknownNameError
from offsphere.engines.registry import ENGINES
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE, DOT, Agreement, Euclidean

RERANK = "no engine serves it: fetch a few hundred by cosine, then re-rank with scorer.score_pairs"


class Setting(NamedTuple):
    """What to store and what to set in one engine."""

    engine: str
    store: str
    query: str
    setting: str


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
    metric = _served_metric(scorer, level)
    if metric is None:
        return [Setting(engine.name, "vectors as they are", "as it is", RERANK) for engine in ENGINES]
    plain = not scorer.transforms and scorer.is_plain and _is_served(scorer, level)
    documents = "scorer.lower().documents(vectors)" if scorer.bias is None else "scorer.lower().documents(vectors, ids)"
    store = "vectors as they are" if plain else documents
    query = "as it is" if plain else "scorer.lower().queries(vectors)"
    return [Setting(engine.name, store, query, getattr(engine.words, metric)) for engine in ENGINES]


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


def _served_metric(scorer: Scorer, level: Agreement) -> Literal["cosine", "inner_product", "euclidean"] | None:
    """Find the metric to serve a scorer by: its own where engines have it, inner product for all else that lowers."""
    if not scorer.transforms and scorer.is_plain:
        if scorer.similarity.agreement_key(level) == COSINE.agreement_key(level):
            return "cosine"
        if isinstance(scorer.similarity, Euclidean):
            return "euclidean"
    return "inner_product" if scorer.similarity.lowers else None


def _is_served(scorer: Scorer, level: Agreement) -> bool:
    """Tell whether engines serve a scorer on the vectors as they are."""
    similarity = scorer.similarity
    served = (COSINE.agreement_key(level), DOT.agreement_key(level))
    return isinstance(similarity, Euclidean) or similarity.agreement_key(level) in served
