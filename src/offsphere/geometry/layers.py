"""Every layer of a transformer: anisotropy, token lengths, self-similarity and intra-sentence similarity.

Metrics after Ethayarajh (2019) and Xiao et al. (2023, arXiv:2212.09170). "Adjusted" is less the layer's anisotropy:
what is left when the cone is taken away. Ordinary tokens only, unless it says otherwise. Where the papers define a
quantity otherwise than we do, theirs stands beside ours (``frequent_tokens``).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import nan
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Flags
from offsphere.base.cores import available_cores
from offsphere.base.errors import OffsphereError
from offsphere.base.merging import Merging
from offsphere.base.progress import Progress
from offsphere.base.short_repr import short_repr
from offsphere.data.items import ItemSide
from offsphere.encode.encoder import Encoder
from offsphere.encode.token_layers import token_layers, token_names, transformer_of
from offsphere.geometry.dimensions import Dimensions, dimensions
from offsphere.geometry.frequent_tokens import AT_LEAST, FrequentTokens, frequent_tokens
from offsphere.geometry.token_batch import TokenBatch
from offsphere.geometry.tokens import LayerState
from offsphere.geometry.word_classes import word_classes
from offsphere.statistics.correlation import Correlation, correlation
from offsphere.statistics.values import mean_or_nan


@dataclass(frozen=True, slots=True, eq=False)
class SpecialToken:
    """A token that stands for no word, such as [CLS]."""

    token: str
    count: int
    mean_length: float
    self_similarity: float
    adjusted: float


@dataclass(frozen=True, slots=True, eq=False)
class MeansWithSpecialTokens:
    """A layer's mean numbers with special tokens counted as tokens."""

    anisotropy: float
    mean_length: float
    self_similarity: float
    intra_similarity: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Layer:
    """What the token vectors of one layer look like; layer 0 is what enters the first block."""

    layer: int
    anisotropy: float
    mean_length: float
    self_similarity: float  # mean over tokens that stand in at least two texts
    self_adjusted: float
    intra_similarity: float
    intra_adjusted: float
    count_and_self_similarity: Correlation  # how often a token occurs against its self-similarity
    special: Sequence[SpecialToken]
    with_special: MeansWithSpecialTokens
    frequent: FrequentTokens  # self-similarity, and what dimensions make of it, as Xiao et al. count
    anisotropy_dimensions: Dimensions
    self_adjusted_by_token: Array  # self-similarity of each token of the report, adjusted

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Layers:
    """All layers of a model over some texts."""

    model: str
    texts: int
    token_count: int  # without special ones
    compared: int  # distinct tokens that stand in at least two texts
    at_least: int  # occurrences of a token that is frequent
    layers: Sequence[Layer]
    tokens: Sequence[str]  # the distinct tokens that are compared, as the tokenizer writes them
    counts: Array  # how often each of them occurs

    __repr__ = short_repr

    @property
    def sentence(self) -> str:
        """The numbers of the first and of the last layer."""
        first, last = self.layers[0], self.layers[-1]
        return (
            f"{self.model}: anisotropy {first.anisotropy:.3f} in layer 0, {last.anisotropy:.3f} in layer {last.layer}; "
            f"adjusted self-similarity {first.self_adjusted:.3f} and {last.self_adjusted:.3f}, "
            f"intra-sentence {first.intra_adjusted:.3f} and {last.intra_adjusted:.3f}"
        )


class LayerSummary(NamedTuple):
    """The few numbers that one follows while a model is trained."""

    anisotropy: float
    length: float
    self_similarity: float
    self_adjusted: float
    intra_similarity: float
    intra_adjusted: float
    self_functional: float = nan  # self-similarity of tokens that hold sentences together, adjusted
    self_semantic: float = nan  # of tokens that mean something


def measure_layers(
    encoder: Encoder,
    texts: Sequence[str],
    side: ItemSide = "document",
    *,
    at_least: int = AT_LEAST,
    seed: int = 0,
    progress: Progress | None = None,
) -> Layers:
    """Measure every layer of a transformer in one run over the texts.

    Sums are taken as the layers come, and no token vector is kept but some probes.

    Args:
        encoder: A transformer model, as ``load_encoder`` gives it.
        texts: What it reads.
        side: Whose prompt and route the model uses.
        at_least: How often a token occurs that Xiao et al. would count; theirs stands beside our own self-similarity.
        seed: Of the probes.
        progress: Is told how many texts are done.

    Returns:
        A ``Layers`` with anisotropy, token lengths, self-similarity and intra-sentence similarity of each layer.

    Raises:
        OffsphereError: A model that has no layers, fewer than two texts with a word in them, or ``at_least`` below 2.

    Example:
        A model that gives a vector a text, not one a token, has no layers:

        >>> import numpy as np, offsphere as osp
        >>> from offsphere.encode.function import FunctionEncoder
        >>> encoder = FunctionEncoder(lambda texts: np.ones((len(texts), 4)), "ones")
        >>> osp.measure_layers(encoder, ["a river bank", "a bank account"])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        offsphere.base.errors.OffsphereError: ones has no layers: it gives a vector a text, not one a token...
    """
    if at_least < 2:  # noqa: PLR2004
        raise OffsphereError(f"at_least={at_least}: a token that occurs once is like nothing but itself; say 2 or more")
    states, special = _states(encoder, texts, side, seed, progress)
    ids = states[0].tokens.ids
    apart = np.isin(ids, special)
    compared = ~apart & np.isfinite(states[0].tokens.self_similarity)
    special_names = token_names(encoder, ids[apart].tolist(), side)
    return Layers(
        model=encoder.description.model,
        texts=len(texts),
        token_count=states[0].ordinary.tokens,
        compared=int(compared.sum()),
        at_least=at_least,
        layers=[_layer(number, state, compared, apart, special_names, at_least) for number, state in enumerate(states)],
        tokens=token_names(encoder, ids[compared].tolist(), side),
        counts=states[0].tokens.counts[compared],
    )


def layer_summaries(encoder: Encoder, texts: Sequence[str], side: ItemSide = "document") -> list[LayerSummary]:
    """The few numbers of every layer that one follows while a model is trained."""
    states, special = _states(encoder, texts, side, 0, None)
    tokens = states[0].tokens
    compared = ~np.isin(tokens.ids, special) & np.isfinite(tokens.self_similarity)
    functional, semantic = word_classes(token_names(encoder, tokens.ids.tolist(), side))
    classes = (functional & compared, semantic & compared)
    return [_with_classes(_summary(state, compared), state, *classes) for state in states]


def _with_classes(summary: LayerSummary, state: LayerState, functional: Flags, semantic: Flags) -> LayerSummary:
    """The numbers of a layer, with the self-similarity of both classes of words; no number where there is none."""
    similar = state.tokens.self_similarity
    return summary._replace(
        self_functional=mean_or_nan(similar[functional]) - summary.anisotropy,
        self_semantic=mean_or_nan(similar[semantic]) - summary.anisotropy,
    )


def _summary(state: LayerState, compared: Flags) -> LayerSummary:
    """The mean numbers of one layer; self-similarity is over the tokens that are compared."""
    sentences, mean = state.ordinary, mean_or_nan(state.tokens.self_similarity[compared])
    return LayerSummary(
        sentences.anisotropy,
        sentences.mean_length,
        mean,
        mean - sentences.anisotropy,
        sentences.intra_similarity,
        sentences.intra_similarity - sentences.anisotropy,
    )


def _states(
    encoder: Encoder, texts: Sequence[str], side: ItemSide, seed: int, progress: Progress | None
) -> tuple[list[LayerState], list[int]]:
    """The state of every layer over all texts, and which tokens stand for no word."""
    transformer_of(encoder, side)  # refuses a model without layers before torch is loaded
    merging: list[Merging[LayerState]] = []
    done = 0
    special: dict[int, None] = {}
    with ThreadPoolExecutor(available_cores()) as pool:
        for tokens in token_layers(encoder, texts, side):
            batch = TokenBatch(tokens.ids, tokens.texts, tokens.special, tokens.numbers, seed)
            merging = merging or [Merging() for _ in tokens.layers]
            for layer, state in zip(merging, pool.map(batch.state, tokens.layers), strict=True):
                layer.add(state)
            special |= dict.fromkeys(np.unique(tokens.ids[tokens.special]).tolist())
            done += len(tokens.numbers)
            if progress is not None:
                progress(done, len(texts))
    states = [state for state in (layer.result() for layer in merging) if state is not None]
    if not states or states[0].ordinary.directions.count < 2:  # noqa: PLR2004
        raise OffsphereError("the layers need at least two texts with a word in them")
    return states, list(special)


def _layer(
    number: int, state: LayerState, compared: Flags, apart: Flags, special: Sequence[str], at_least: int
) -> Layer:
    """All numbers of one layer; ``apart`` flags the special tokens, whose names are ``special``."""
    sentences, tokens = state.ordinary, state.tokens
    similar, summary = tokens.self_similarity, _summary(state, compared)
    return Layer(
        layer=number,
        anisotropy=summary.anisotropy,
        mean_length=summary.length,
        self_similarity=summary.self_similarity,
        self_adjusted=summary.self_adjusted,
        intra_similarity=summary.intra_similarity,
        intra_adjusted=summary.intra_adjusted,
        count_and_self_similarity=correlation(np.log(tokens.counts[compared]), similar[compared]),
        special=[
            SpecialToken(
                token=name,
                count=int(tokens.counts[row]),
                mean_length=float(tokens.lengths[row] / tokens.counts[row]),
                self_similarity=float(similar[row]),
                adjusted=float(similar[row] - sentences.anisotropy),
            )
            for name, row in zip(special, np.flatnonzero(apart), strict=True)
        ],
        with_special=MeansWithSpecialTokens(
            state.everything.anisotropy,
            state.everything.mean_length,
            mean_or_nan(similar[np.isfinite(similar)]),
            state.everything.intra_similarity,
        ),
        frequent=frequent_tokens(number, state, compared, at_least),
        anisotropy_dimensions=dimensions(f"layer {number}", sentences.directions, state.probes),
        self_adjusted_by_token=similar[compared] - sentences.anisotropy,
    )
