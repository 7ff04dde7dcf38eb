"""Two towers: a model of texts and one of images as one model of sentence-transformers, with vectors of one width."""

from __future__ import annotations

from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Router
from torch import nn

from offsphere.base.errors import ParameterError
from offsphere.data.items import ItemKind
from offsphere.encode.stages import remove_output_stages
from offsphere.encode.text_marks import keep_texts

KINDS: tuple[ItemKind, ItemKind] = ("text", "image")


def two_towers(text: Any, image: Any, width: int | None = None, seed: int = 0) -> Any:
    """Join a model of texts and one of images; each item takes the route of its kind.

    The image tower ends in a new linear map to the common width; so does the text tower where it has another width.
    With the text tower frozen (``train(..., frozen="text")``) the image tower learns to say the same (LiT, Zhai et al.
    2022, arXiv:2111.07991, where it is the image tower that stays).

    Args:
        text: A SentenceTransformer of texts, which becomes a part of the new one.
        image: A SentenceTransformer of images, which becomes a part of the new one.
        width: How many numbers vectors have; as many as those of texts without.
        seed: Of the new maps.

    Returns:
        A SentenceTransformer that takes texts and images; saved, it needs nothing of offsphere.

    Raises:
        ParameterError: A tower does not take what it is for.

    Example:
        >>> import offsphere as osp
        >>> from sentence_transformers import SentenceTransformer
        >>> from sentence_transformers.sentence_transformer.modules import StaticEmbedding
        >>> from tokenizers import Tokenizer, models, pre_tokenizers
        >>> words = Tokenizer(models.WordLevel({"?": 0, "red": 1, "cat": 2}, unk_token="?"))
        >>> words.pre_tokenizer = pre_tokenizers.Whitespace()
        >>> text = SentenceTransformer(modules=[StaticEmbedding(words, embedding_dim=16)], device="cpu")
        >>> model = osp.two_towers(text, osp.image_tower("vit", size=8, width=8))
        >>> sorted(model.modalities), model.encode(["red cat"]).shape
        (['image', 'text'], (1, 16))
    """
    for kind, tower in zip(KINDS, (text, image), strict=True):
        if not isinstance(tower, SentenceTransformer) or not tower.supports(kind):
            raise ParameterError(f"the {kind} tower takes no {kind}s: give a SentenceTransformer that does")
        remove_output_stages(tower)
    common = width or text.get_embedding_dimension()
    routes: dict[str, list[Any]] = {
        kind: list(tower.children()) for kind, tower in zip(KINDS, (text, image), strict=True)
    }
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for kind, tower in zip(KINDS, (text, image), strict=True):
            given = tower.get_embedding_dimension()
            if kind == "image" or given != common:
                routes[kind].append(Dense(given, common, bias=False, activation_function=None))
    router = Router(routes, default_route="text", route_mappings={(None, kind): kind for kind in KINDS})
    return keep_texts(SentenceTransformer(modules=[router], device="cpu", prompts=dict(text.prompts)))


def freeze(model: Any, kind: str) -> None:
    """Keep a tower of a model from learning; a map that was added at its end may still learn.

    Args:
        model: A model with a route a kind, which is changed.
        kind: ``text`` or ``image``.

    Raises:
        ParameterError: The model has no such tower.
    """
    routes = getattr(model[0], "sub_modules", {})
    if kind not in routes or len(routes) < len(KINDS):
        raise ParameterError(f"frozen = {kind!r}: the model has no {kind} tower beside another one: join two first")
    for stage in [stage for number, stage in enumerate(routes[kind]) if number == 0 or not isinstance(stage, Dense)]:
        for parameter in stage.parameters():
            parameter.requires_grad_(requires_grad=False)
        for part in stage.modules():
            if isinstance(part, nn.Dropout):
                part.p = 0.0  # what does not learn says the same every time
