"""The vector of each token by itself: rows of a static table, or the input embeddings of a transformer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from offsphere.base.arrays import Index, Rows
from offsphere.data.items import ItemSide
from offsphere.encode.encoder import Encoder
from offsphere.encode.static import StaticEncoder
from offsphere.encode.token_layers import token_names, transformer_of


def word_vectors(encoder: Encoder, ids: Index, side: ItemSide) -> Rows:
    """The vectors of tokens by their numbers, whatever text they stand in.

    Args:
        encoder: A static model or a transformer.
        ids: The numbers of the tokens.
        side: Whose route through the model is meant, where it has several.

    Returns:
        One row a token, with its length as it goes into the model.

    Raises:
        OffsphereError: A model that gives a vector a text, and has none of tokens.

    Example:
        >>> import numpy as np
        >>> from offsphere import load_encoder
        >>> word_vectors(load_encoder("wordllama"), np.array([450, 920]), "document").shape
        (2, 256)
    """
    if isinstance(encoder, StaticEncoder):
        return np.ascontiguousarray(encoder.table[encoder.rows[ids]] * encoder.weights[ids][:, None], np.float32)
    import torch

    weight = transformer_of(encoder, side).model.get_input_embeddings().weight
    chosen = weight.detach()[torch.as_tensor(ids, device=weight.device)]
    return np.ascontiguousarray(chosen.float().cpu().numpy())


def word_names(encoder: Encoder, ids: Sequence[int], side: ItemSide) -> list[str]:
    """What tokens are called, as their tokenizer writes them."""
    if isinstance(encoder, StaticEncoder):
        return [str(encoder.tokenizer.id_to_token(number)) for number in ids]
    return token_names(encoder, ids, side)
