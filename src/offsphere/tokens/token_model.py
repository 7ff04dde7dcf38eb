"""Models as sources of token vectors: a static table, or every layer of a transformer, a batch of texts at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from offsphere.base.arrays import Index, Rows
from offsphere.base.errors import OffsphereError, ParameterError
from offsphere.data.items import ItemSide
from offsphere.encode.encoder import Encoder, Tokens
from offsphere.encode.sentence import SentenceEncoder
from offsphere.encode.static import StaticEncoder
from offsphere.encode.token_blocks import tokens_in_blocks
from offsphere.encode.token_layers import TokenLayers, token_layers, transformer_of
from offsphere.encode.word_vectors import word_vectors
from offsphere.tokens.token_bags import TokenBags
from offsphere.tokens.vocabulary import Vocabulary

STATIC_BATCH = 4_096  # texts


class BagBatch(NamedTuple):
    """Some texts as bags of token vectors."""

    numbers: Index  # of the texts in the whole
    layers: Sequence[TokenBags]  # as bags, in each layer that was asked for


class TokenModel(Protocol):
    """What gives the token vectors of texts."""

    @property
    def encoder(self) -> Encoder:
        """The model that gives them."""
        ...

    @property
    def layers(self) -> int | None:
        """How many layers have token vectors, the input of the first among them; nothing where there is one table."""
        ...

    def tokens(self, texts: Sequence[str]) -> Tokens:
        """The tokens of each text, without special ones."""
        ...

    def batches(
        self, texts: Sequence[str], side: ItemSide, layers: Sequence[int], vocabulary: Vocabulary
    ) -> Iterator[BagBatch]:
        """All texts as bags in each of some layers, some texts at a time and in any order."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class StaticTokens:
    """Token vectors from the table of a static model."""

    encoder: StaticEncoder

    layers = None

    def tokens(self, texts: Sequence[str]) -> Tokens:
        """The tokens of each text that the table knows."""
        return _tokens(self.encoder, texts)

    def batches(
        self, texts: Sequence[str], side: ItemSide, layers: Sequence[int], vocabulary: Vocabulary
    ) -> Iterator[BagBatch]:
        """The texts in their order; the one layer is the table."""
        for start in range(0, len(texts), STATIC_BATCH):
            block = texts[start : start + STATIC_BATCH]
            tokens = self.tokens(block)
            ids, slots = np.unique(tokens.ids, return_inverse=True)
            vectors = word_vectors(self.encoder, ids, side)
            bags = TokenBags.of(vectors, ids, slots, tokens.ends, vocabulary.frequency(ids))
            yield BagBatch(np.arange(start, start + len(block)), [bags] * len(layers))


@dataclass(frozen=True, slots=True, eq=False)
class TransformerTokens:
    """Token vectors from the layers of a transformer, without special tokens and those of a prompt."""

    encoder: SentenceEncoder
    layers: int

    def tokens(self, texts: Sequence[str]) -> Tokens:
        """The tokens of each text that the model looks at."""
        return _tokens(self.encoder, texts)

    def batches(
        self, texts: Sequence[str], side: ItemSide, layers: Sequence[int], vocabulary: Vocabulary
    ) -> Iterator[BagBatch]:
        """The texts as the model takes them, long ones first: one run for all layers."""
        prompt = self.encoder.prompt(side)
        before = len(self.encoder.model.tokenizer(prompt, add_special_tokens=False)["input_ids"]) if prompt else 0
        for batch in token_layers(self.encoder, texts, side):
            kept = _ordinary(batch, before)
            ids = batch.ids[kept]
            ends = np.cumsum(np.bincount(batch.texts[kept], minlength=len(batch.numbers)))
            frequency = vocabulary.frequency(ids)

            def bags(rows: Rows) -> TokenBags:
                slots = np.arange(len(ids))  # noqa: B023  # it is called before the next batch
                return TokenBags.of(rows[kept], ids, slots, ends, frequency)  # noqa: B023

            yield BagBatch(batch.numbers, [bags(batch.layers[layer]) for layer in layers])


def token_model(encoder: Encoder, side: ItemSide = "document") -> TokenModel:
    """The token vectors of a model.

    Args:
        encoder: A static model or a transformer, as ``load_encoder`` gives it.
        side: Whose route through the model is meant, where it has several.

    Returns:
        What gives the token vectors of texts.

    Raises:
        OffsphereError: A model that gives a vector a text, and none a token.

    Example:
        >>> from offsphere import load_encoder
        >>> token_model(load_encoder("wordllama")).tokens(["wing flutter", ""]).ends.tolist()
        [2, 2]
    """
    if isinstance(encoder, StaticEncoder):
        return StaticTokens(encoder)
    transformer = transformer_of(encoder, side)
    assert isinstance(encoder, SentenceEncoder)  # or it would have been refused
    return TransformerTokens(encoder, int(transformer.model.config.num_hidden_layers) + 1)


def chosen_layers(model: TokenModel, typed: str) -> list[int]:
    """The layers that somebody asks for: ``last``, ``all``, or numbers joined by commas; -1 is the last one.

    Raises:
        ParameterError: The model has no such layer.
    """
    if model.layers is None:
        if typed not in ("last", "all"):
            raise ParameterError(f"{model.encoder.description.model} is a table without layers: leave out the layer")
        return [0]
    if typed in ("last", "all"):
        return [model.layers - 1] if typed == "last" else list(range(model.layers))
    try:
        numbers = [int(part) for part in typed.split(",")]
    except ValueError:
        raise ParameterError(f"layer {typed!r}: expected last, all, or numbers such as 0,6") from None
    wrong = [number for number in numbers if not -model.layers <= number < model.layers]
    if wrong:
        raise ParameterError(f"layer {wrong[0]}: {model.encoder.description.model} has 0 to {model.layers - 1}")
    return sorted({number % model.layers for number in numbers})


def _tokens(encoder: Encoder, texts: Sequence[str]) -> Tokens:
    tokens = tokens_in_blocks(texts, encoder.tokens)
    if tokens is None:
        raise OffsphereError(f"{encoder.description.model} does not say which tokens it sees")
    return tokens


def _ordinary(batch: TokenLayers, prompt: int) -> Index:
    """The tokens that stand for words of the text itself, text by text in their order."""
    ordinary = np.flatnonzero(~batch.special)
    ordinary = ordinary[np.argsort(batch.texts[ordinary], kind="stable")]
    counts = np.bincount(batch.texts[ordinary], minlength=len(batch.numbers))
    position = np.arange(len(ordinary)) - np.repeat(np.cumsum(counts) - counts, counts)
    return ordinary[position >= prompt]
