"""What to set in each search engine so that it ranks as a scorer does, in the engine's own words.

An engine serves cosine, inner product or Euclidean distance. Any other scorer that lowers is served as inner product of
the vectors that ``scorer.lower()`` makes; one that does not can only re-rank what cosine found.
"""

from __future__ import annotations

from typing import NamedTuple

from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE, DOT, Agreement, Euclidean

RERANK = "no engine serves it: fetch a few hundred by cosine, then re-rank with scorer.score_pairs"

# engine: (cosine, inner product, Euclidean distance)
WORDS = {
    "FAISS": (
        "faiss.normalize_L2(vectors) on both sides, then IndexFlatIP (METRIC_INNER_PRODUCT)",
        "IndexFlatIP (METRIC_INNER_PRODUCT), vectors as they are",
        "IndexFlatL2 (METRIC_L2)",
    ),
    "Qdrant": (
        "VectorParams(distance=Distance.COSINE): it stores normalised copies",
        "VectorParams(distance=Distance.DOT)",
        "VectorParams(distance=Distance.EUCLID)",
    ),
    "pgvector": (
        "ORDER BY embedding <=> query, index with vector_cosine_ops",
        "ORDER BY embedding <#> query (the negative inner product), index with vector_ip_ops",
        "ORDER BY embedding <-> query, index with vector_l2_ops",
    ),
    "LanceDB": (
        'table.search(query).distance_type("cosine")',
        'table.search(query).distance_type("dot")',
        'table.search(query).distance_type("l2")',
    ),
    "usearch": ('Index(ndim=d, metric="cos")', 'Index(ndim=d, metric="ip")', 'Index(ndim=d, metric="l2sq")'),
    "Elasticsearch": (
        'dense_vector with "similarity": "cosine"',
        'dense_vector with "similarity": "max_inner_product" ("dot_product" wants unit vectors)',
        'dense_vector with "similarity": "l2_norm"',
    ),
}


class Setting(NamedTuple):
    """What to store and what to set in one engine."""

    engine: str
    store: str
    query: str
    setting: str


def engine_settings(scorer: Scorer, level: Agreement = "query") -> list[Setting]:
    """A setting for each engine we know.

    ``level`` says what must agree: one ``query``'s order, or the ``order`` of all pairs, for which a query's own length
    counts too.
    """
    place = _served_as(scorer, level)
    if place is None:
        return [Setting(engine, "vectors as they are", "as it is", RERANK) for engine in WORDS]
    plain = not scorer.transforms and scorer.is_plain and _is_served(scorer, level)
    store = "vectors as they are" if plain else "scorer.lower().documents(vectors)"
    query = "as it is" if plain else "scorer.lower().queries(vectors)"
    return [Setting(engine, store, query, words[place]) for engine, words in WORDS.items()]


def _served_as(scorer: Scorer, level: Agreement) -> int | None:
    """Which of an engine's three words: its own for what it serves, inner product for all else that lowers."""
    if scorer.transforms or not scorer.is_plain:
        return 1 if scorer.similarity.lowers else None
    if scorer.similarity.agreement_key(level) == COSINE.agreement_key(level):
        return 0
    if isinstance(scorer.similarity, Euclidean):
        return 2
    return 1 if scorer.similarity.lowers else None


def _is_served(scorer: Scorer, level: Agreement) -> bool:
    """Whether engines serve it on the vectors as they are."""
    similarity = scorer.similarity
    served = (COSINE.agreement_key(level), DOT.agreement_key(level))
    return isinstance(similarity, Euclidean) or similarity.agreement_key(level) in served
