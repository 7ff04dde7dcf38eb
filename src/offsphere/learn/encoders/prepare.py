"""``prepare``: a sentence-transformers model whose sides end, and begin, in what a normalisation asks for."""

from __future__ import annotations

from typing import Any, NamedTuple

from sentence_transformers import SentenceTransformer

from offsphere.base.errors import ParameterError
from offsphere.encode.stages import add_output_stages, remove_output_stages
from offsphere.learn.encoders.inputs import normalize_inputs, settle_inputs
from offsphere.learn.objective.exponents import Exponents, Normalize


class Preparation(NamedTuple):
    """What was done to a model."""

    removed: list[str]
    added: list[str]
    similarity: str  # by which the model is to be scored from now on


def prepare(model: Any, normalize: Normalize, normalize_input: Normalize = "none") -> Preparation:
    """Remove every stage that takes length away, and end each side in the one that ``normalize`` asks for.

    Saved, the model scores as it is trained: a side that is normalised ends in Normalize, one that keeps its length in
    nothing, and where the sides differ a Router tells ``encode_query`` from ``encode_document``. The vectors' inner
    product is the score, so ``similarity_fn_name`` is set to dot, or to cosine where both sides are normalised.
    Exponents other than 0 and 1 need a stage of offsphere's own to be loaded again. ``normalize_input`` is the same
    choice for the token vectors; call ``settle`` before such a model is saved for good.
    """
    if not isinstance(model, SentenceTransformer):
        raise ParameterError(f"prepare wants a SentenceTransformer, not a {type(model).__name__}")
    exponents = Exponents.of(normalize)
    removed = remove_output_stages(model)
    added = add_output_stages(model, exponents.query, exponents.document, learned=exponents.learned)
    model.similarity_fn_name = "cosine" if (exponents.query, exponents.document) == (1, 1) else "dot"
    normalize_inputs(model, Exponents.of(normalize_input))
    return Preparation(removed, added, model.similarity_fn_name)


def settle(model: Any) -> None:
    """Make a trained model final: nothing in it is tied to its training any more."""
    from offsphere.encode.stages import Power, output_stages, stop_lengths

    settle_inputs(model)
    for _, stage in output_stages(model):
        stop_lengths(stage)
        if isinstance(stage, Power):
            stage.freeze()
