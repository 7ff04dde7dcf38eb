"""A model to fold a scorer into: a sentence-transformers model without its Normalize, or a static one made to one."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from offsphere.base.errors import MissingExtraError, OffsphereError
from offsphere.encode.encoder import Encoder
from offsphere.encode.sentence import SentenceEncoder
from offsphere.encode.sources import load_encoder
from offsphere.encode.static import StaticEncoder


class Foldable(NamedTuple):
    """A model in two forms: as its vectors were measured, and as stages that others may be put behind."""

    encoder: Encoder
    stages: Any  # a SentenceTransformer that gives the same vectors
    notes: list[str]  # where it does not quite


def open_foldable(model: Any, *, keep_normalize: bool = False) -> Foldable:
    """Open a model, with its length, as stages to be added to.

    Args:
        model: Its name, as ``load_encoder`` takes it, or a SentenceTransformer, which is not changed.
        keep_normalize: Leave the stages in that take length away.

    Returns:
        The model.

    Raises:
        OffsphereError: It is a function, or something else without stages.
        MissingExtraError: sentence-transformers is not installed.
    """
    encoder: Encoder
    if isinstance(model, str | Path):
        encoder = load_encoder(str(model), keep_normalize=keep_normalize)
    else:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise MissingExtraError("sentence-transformers", "models") from error
        if not isinstance(model, SentenceTransformer):
            raise OffsphereError(
                f"a {type(model).__name__} is no model: give the name of one, or a SentenceTransformer"
            )
        name = str(getattr(model.model_card_data, "base_model", None) or "a model in memory")
        encoder = SentenceEncoder("a model in memory", name, keep_normalize=keep_normalize, model=copy.deepcopy(model))
    if isinstance(encoder, SentenceEncoder):
        encoder.model.float()
        return Foldable(encoder, copy.deepcopy(encoder.model), [])
    if isinstance(encoder, StaticEncoder):
        return Foldable(encoder, _static_model(encoder), _static_notes(encoder))
    raise OffsphereError(
        f"{encoder.description.model} is a function, which has no stages that others could be put behind: use the "
        "scorer's own maps, scorer.lower()"
    )


def _static_model(encoder: StaticEncoder) -> Any:
    """A static model as sentence-transformers has them: weights and rows of tokens are written into its table."""
    try:
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.base.modules import Normalize as NormalizeStage
        from sentence_transformers.sentence_transformer.modules import StaticEmbedding
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtraError("sentence-transformers", "models") from error
    table = np.asarray(encoder.table, np.float32)[encoder.rows] * encoder.weights[:, None]
    if encoder.unknown >= 0:
        table[encoder.unknown] = 0
    stages = [StaticEmbedding(Tokenizer.from_str(encoder.tokenizer.to_str()), embedding_weights=table)]
    ends = [NormalizeStage()] if encoder.normalize else []
    return SentenceTransformer(modules=[*stages, *ends], device="cpu")


def _static_notes(encoder: StaticEncoder) -> list[str]:
    """Where sentence-transformers averages a static model's tokens in another way than its own package."""
    notes = []
    if encoder.unknown >= 0:
        notes.append(
            "sentence-transformers counts unknown tokens in the mean: texts that have some get shorter vectors, "
            "of the same direction before transforms"
        )
    if encoder.longest is not None:
        notes.append(f"texts are cut by tokens alone, not at {encoder.longest:,} characters")
    return notes
