"""``prepare`` and ``settle``: a model whose sides end, and begin, in what a normalisation asks for; and for good."""

from __future__ import annotations

from typing import Any, NamedTuple

from sentence_transformers import SentenceTransformer

from offsphere.base.errors import ParameterError
from offsphere.base.short_repr import short_repr
from offsphere.encode.stages import Power, add_output_stages, output_stages, remove_output_stages, stop_lengths
from offsphere.learning.encoders.inputs import normalize_inputs, settle_inputs
from offsphere.learning.objective.exponents import Exponents, Normalize


class Preparation(NamedTuple):
    """What ``prepare`` did to a model, and how it is to be scored."""

    removed: list[str]
    added: list[str]
    similarity: str  # by which the model is to be scored from now on

    def __repr__(self) -> str:
        """The fields, long ones by their size."""
        return short_repr(self)


def prepare(model: Any, normalize: Normalize, normalize_input: Normalize = "none") -> Preparation:
    """Remove the last stages that take length away, and end each side in the one that ``normalize`` asks for.

    Saved, the model scores as it is trained: a side that is normalised ends in Normalize, one that keeps its length in
    nothing, and where the sides differ a Router tells ``encode_query`` from ``encode_document``. The vectors' inner
    product is the score, so ``similarity_fn_name`` is set to dot, or to cosine where both sides are normalised.
    Exponents other than 0 and 1 need a stage of offsphere's own to be loaded again.

    Args:
        model: A SentenceTransformer, which is changed.
        normalize: The power of its length by which each side is divided: both (cosine), none (dot), query, document,
            half, learn, or a pair of exponents.
        normalize_input: The same choice for the token vectors; call ``settle`` before such a model is saved for good.

    Returns:
        The stages that were removed and added, and the similarity that scores the model from now on.

    Raises:
        ParameterError: If the model is something else, or its input cannot be normalised.

    Example:
        >>> import offsphere as osp
        >>> from sentence_transformers import SentenceTransformer
        >>> from sentence_transformers.base.modules import Normalize
        >>> from sentence_transformers.sentence_transformer.modules import StaticEmbedding
        >>> from tokenizers import Tokenizer, models, pre_tokenizers
        >>> words = Tokenizer(models.WordLevel({"?": 0, "red": 1, "cat": 2}, unk_token="?"))
        >>> words.pre_tokenizer = pre_tokenizers.Whitespace()
        >>> stages = [StaticEmbedding(words, embedding_dim=8), Normalize()]
        >>> model = SentenceTransformer(modules=stages, device="cpu")
        >>> osp.prepare(model, "query")
        Preparation(removed=['Normalize (stage 1)'], added=['Normalize for the query'], similarity='dot')
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
    """Make a trained model final: nothing in it is tied to its training any more, and learned exponents are kept.

    Args:
        model: A SentenceTransformer that was prepared, which is changed.

    Example:
        >>> import offsphere as osp
        >>> from sentence_transformers import SentenceTransformer
        >>> from sentence_transformers.sentence_transformer.modules import StaticEmbedding
        >>> from tokenizers import Tokenizer, models, pre_tokenizers
        >>> words = Tokenizer(models.WordLevel({"?": 0, "red": 1, "cat": 2}, unk_token="?"))
        >>> words.pre_tokenizer = pre_tokenizers.Whitespace()
        >>> model = SentenceTransformer(modules=[StaticEmbedding(words, embedding_dim=8)], device="cpu")
        >>> _ = osp.prepare(model, "both", normalize_input="both")  # tokens are divided on the way
        >>> osp.settle(model)  # now the table itself is divided
        >>> model[0].embedding.weight.norm(dim=1).round(decimals=4).tolist()
        [1.0, 1.0, 1.0]
    """
    settle_inputs(model)
    for _, stage in output_stages(model):
        stop_lengths(stage)
        if isinstance(stage, Power):
            stage.freeze()
