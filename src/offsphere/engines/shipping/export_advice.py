"""What to change where an engine returns too little of what was measured."""

from __future__ import annotations

import numpy as np

from offsphere.engines.collection import Collection
from offsphere.engines.shipping.corpus import Corpus
from offsphere.engines.shipping.strategy import ExportWishes, Strategy
from offsphere.engines.shipping.verification import Verification
from offsphere.scoring.scorer import Scorer

LOOKED_AT = 2_000  # documents
SAME_LENGTH = 1e-3  # of the longest
SCORES_AGREE = 1e-3  # of the largest score; more than float32 rounds away


def lengths_note(scorer: Scorer, corpus: Corpus) -> list[str]:
    """Say so where a scorer goes by the length of documents and all of these are equally long.

    A transform makes lengths unequal again, but what the model said by them is not among what it makes.
    """
    some = np.linalg.norm(np.asarray(corpus.vectors[:LOOKED_AT], np.float64), axis=1)
    longest = float(some.max(initial=0.0))
    weights = scorer.similarity.document_terms(np.array([1.0, 2.0]))
    by_direction = not scorer.similarity.has_offset and np.isclose(weights.weight[0], 2 * weights.weight[1])
    if by_direction or np.ptp(some) > SAME_LENGTH * longest:
        return []
    before = " before its transforms" if scorer.transforms else ""
    told = (
        f"{scorer.name} goes by the length of documents, and all of these are {longest:.3g} long{before}: if a model "
        "or an API normalised them, their lengths are gone, and embedding again without that step brings them back"
    )
    return [told]


def advice_for(
    strategy: Strategy, collection: Collection, seen: Verification, asked: ExportWishes, *, raced: bool
) -> list[str]:
    """Say what to change, the cheapest first; nothing where the goal was met."""
    advice = []
    if seen.score_error is not None and seen.score_error > SCORES_AGREE and strategy.stored == "float32":
        advice.append(
            f"scores differ from ours by up to {seen.score_error:.1%}: the engine stores or computes with fewer digits"
        )
    if seen.recall >= asked.goal:
        return advice
    if seen.short:
        advice.append(f"{seen.short} queries got fewer than {seen.k} documents: raise the effort above k")
    if strategy.serving.augmented and strategy.index == "exact":
        advice.append(
            "take an engine that has inner product: as distances, documents are told apart by digits that float32 "
            "lacks beside the longest of them"
        )
    if strategy.stored != "float32":
        advice.append(f"store the vectors as float32: they are stored as {strategy.stored}")
    if strategy.index != "exact":
        advice += _other_ways(collection, asked, raced=raced)
    return advice or ["an exact index should return everything: look at it with offsphere probe"]


def _other_ways(collection: Collection, asked: ExportWishes, *, raced: bool) -> list[str]:
    """What may find more than an approximate index did."""
    advice = []
    if not raced:
        advice.append("let the export race other ways to serve it: add --tune")
    if asked.effort is not None:
        advice.append(f"look at more candidates than {asked.effort}: raise --effort, or leave it to the export")
    if "exact" in collection.index_kinds:
        advice.append("take an exact index: --index exact")
    elif raced:
        advice.append(
            "this engine has no exact index, and of all ways that were raced this one returned most: take an engine "
            "that compares every vector, such as FAISS, or ask for less with --goal"
        )
    return advice
