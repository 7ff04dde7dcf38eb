"""The token vectors of every layer of a transformer, batch by batch, padding left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from offsphere.base.arrays import Flags, Index, Rows
from offsphere.base.errors import OffsphereError
from offsphere.data.items import ItemSide
from offsphere.encode.encoder import Encoder
from offsphere.encode.sentence import BATCH, SentenceEncoder
from offsphere.encode.special_tokens import special_ids
from offsphere.encode.text_marks import marked


class TokenLayers(NamedTuple):
    """Tokens of a batch of texts in a row, and their vectors in every layer, the embedding layer first."""

    ids: Index  # (tokens,)
    texts: Index  # (tokens,): number of the text within the batch
    special: Flags  # (tokens,)
    numbers: Index  # (texts of the batch,): of each text in the whole
    layers: Sequence[Rows]  # each (tokens, dimension)


def token_layers(encoder: Encoder, texts: Sequence[str], side: ItemSide, batch: int = BATCH) -> Iterator[TokenLayers]:
    """Run the model over texts, long ones first; each layer's vectors of all tokens that are no padding."""
    import torch

    transformer = transformer_of(encoder, side)
    assert isinstance(encoder, SentenceEncoder)  # or it would have been refused
    special = sorted(special_ids(transformer.tokenizer))
    order = np.argsort([-len(text) for text in texts], kind="stable")
    prompt = encoder.prompt(side)
    for start in range(0, len(order), batch):
        chosen = order[start : start + batch]
        features = transformer.preprocess(marked([texts[number] for number in chosen]), prompt=prompt or None)
        inputs = {name: value.to(encoder.model.device) for name, value in features.items() if torch.is_tensor(value)}
        with torch.inference_mode():
            # the module filters what its model does not take
            output = text_tower(transformer)(
                **_forward_inputs(transformer, inputs), output_hidden_states=True, return_dict=True
            )
        mask = inputs.get("attention_mask", torch.ones_like(inputs["input_ids"])).bool()  # SigLIP looks at all
        ids = inputs["input_ids"][mask].cpu().numpy()
        yield TokenLayers(
            ids,
            mask.nonzero()[:, 0].cpu().numpy(),
            np.isin(ids, special),
            chosen,
            [layer[mask].float().cpu().numpy() for layer in output.hidden_states],
        )


def text_tower(transformer: Any) -> Any:
    """What runs over tokens: the model, or its part for texts where it has one for images beside it."""
    return getattr(transformer.model, "text_model", transformer.model)


def token_names(encoder: Encoder, ids: Sequence[int], side: ItemSide) -> list[str]:
    """The names of tokens as the tokenizer of a side writes them."""
    return [str(name) for name in transformer_of(encoder, side).tokenizer.convert_ids_to_tokens(list(ids))]


def transformer_of(encoder: Encoder, side: ItemSide) -> Any:
    """The transformer inside an encoder; an error where it has none, and so no tokens in context."""
    name = encoder.description.model
    if isinstance(encoder, SentenceEncoder):
        from sentence_transformers.base.modules import Router, Transformer

        first: Any = encoder.model[0]
        if isinstance(first, Router):
            routes = first.sub_modules
            route: Any = routes[side if side in routes else first.default_route or next(iter(routes))]
            first = route[0]
        if isinstance(first, Transformer):
            return first
    raise OffsphereError(
        f"{name} has no layers: it gives a vector a text, not one a token in context; give a transformer model "
        "(a sentence-transformers or transformers folder, or a hub name) with --model"
    )


def _forward_inputs(transformer: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The inputs that the model's forward takes."""
    known = transformer.model_forward_params
    return {name: value for name, value in inputs.items() if known is None or name in known}
