"""Every layer of a transformer: anisotropy, token lengths, self-similarity and intra-sentence similarity.

Metrics after Ethayarajh (2019) and Xiao et al. (2023, arXiv:2212.09170). "Adjusted" is less the layer's anisotropy:
what is left when the cone is taken away. Ordinary tokens only, unless it says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Flags
from offsphere.base.cores import available_cores
from offsphere.base.errors import OffsphereError
from offsphere.base.progress import Progress
from offsphere.data.items import ItemSide
from offsphere.encode.encoder import Encoder
from offsphere.encode.token_layers import token_layers, token_names
from offsphere.geometry.dimensions import Dimensions, dimensions
from offsphere.geometry.merging import Merging
from offsphere.geometry.token_batch import TokenBatch
from offsphere.geometry.tokens import LayerState
from offsphere.statistics.correlation import Correlation, correlation


@dataclass(frozen=True, slots=True, eq=False)
class SpecialToken:
    """A token that stands for no word, such as [CLS]."""

    token: str
    count: int
    mean_length: float
    self_similarity: float
    adjusted: float


@dataclass(frozen=True, slots=True, eq=False)
class WithSpecial:
    """The same numbers with special tokens counted as tokens."""

    anisotropy: float
    mean_length: float
    self_similarity: float
    intra_similarity: float


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """One layer; 0 is what enters the first block."""

    layer: int
    anisotropy: float
    mean_length: float
    self_similarity: float  # mean over tokens that stand in at least two texts
    self_adjusted: float
    intra_similarity: float
    intra_adjusted: float
    count_and_self_similarity: Correlation  # how often a token occurs against its self-similarity
    special: Sequence[SpecialToken]
    with_special: WithSpecial
    dimensions: Dimensions
    self_adjusted_by_token: Array  # self-similarity of each token of the report, adjusted


@dataclass(frozen=True, slots=True, eq=False)
class Layers:
    """All layers of a model over some texts."""

    model: str
    texts: int
    token_count: int  # without special ones
    compared: int  # distinct tokens that stand in at least two texts
    layers: Sequence[Layer]
    tokens: Sequence[str]  # those, as the tokenizer writes them

    @property
    def sentence(self) -> str:
        """First and last layer."""
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


def measure_layers(
    encoder: Encoder,
    texts: Sequence[str],
    side: ItemSide = "document",
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> Layers:
    """Run the model over the texts once; sums are taken as layers come, and no token vector is kept but some probes."""
    states, special = _states(encoder, texts, side, seed, progress)
    return _told(encoder, side, len(texts), states, special)


def layer_summaries(encoder: Encoder, texts: Sequence[str], side: ItemSide = "document") -> list[LayerSummary]:
    """Every layer in short."""
    states, special = _states(encoder, texts, side, 0, None)
    tokens = states[0].tokens
    compared = ~np.isin(tokens.ids, special) & np.isfinite(tokens.self_similarity)
    return [_summary(state, compared) for state in states]


def _summary(state: LayerState, compared: Flags) -> LayerSummary:
    own, mean = state.ordinary, _mean(state.tokens.self_similarity[compared])
    return LayerSummary(
        own.anisotropy,
        own.mean_length,
        mean,
        mean - own.anisotropy,
        own.intra_similarity,
        own.intra_similarity - own.anisotropy,
    )


def _states(
    encoder: Encoder, texts: Sequence[str], side: ItemSide, seed: int, progress: Progress | None
) -> tuple[list[LayerState], list[int]]:
    """The state of every layer over all texts, and which tokens stand for no word."""
    merging: list[Merging[LayerState]] = []
    done = 0
    special: dict[int, None] = {}
    with ThreadPoolExecutor(available_cores()) as pool:
        for found in token_layers(encoder, texts, side):
            batch = TokenBatch(found.ids, found.texts, found.special, found.numbers, seed)
            merging = merging or [Merging() for _ in found.layers]
            for place, state in enumerate(pool.map(batch.state, found.layers)):
                merging[place].add(state)
            special |= dict.fromkeys(np.unique(found.ids[found.special]).tolist())
            done += len(found.numbers)
            if progress is not None:
                progress(done, len(texts))
    states = [state for state in (layer.result() for layer in merging) if state is not None]
    if not states or states[0].ordinary.directions.count < 2:  # noqa: PLR2004
        raise OffsphereError("the layers need at least two texts with a word in them")
    return states, list(special)


def _told(encoder: Encoder, side: ItemSide, texts: int, states: Sequence[LayerState], special: list[int]) -> Layers:
    ids = states[0].tokens.ids
    apart = np.isin(ids, special)
    compared = ~apart & np.isfinite(states[0].tokens.self_similarity)
    names = token_names(encoder, ids[compared].tolist(), side)
    return Layers(
        encoder.description.model,
        texts,
        states[0].ordinary.tokens,
        int(compared.sum()),
        [
            _layer(number, state, compared, apart, token_names(encoder, ids[apart].tolist(), side))
            for number, state in enumerate(states)
        ],
        names,
    )


def _layer(number: int, state: LayerState, compared: Flags, apart: Flags, special: Sequence[str]) -> Layer:
    own, tokens = state.ordinary, state.tokens
    similar = tokens.self_similarity
    return Layer(
        number,
        *_summary(state, compared),
        correlation(np.log(tokens.counts[compared]), similar[compared]),
        [
            SpecialToken(name, int(tokens.counts[place]), float(tokens.lengths[place] / tokens.counts[place]),
                         float(similar[place]), float(similar[place] - own.anisotropy))
            for name, place in zip(special, np.flatnonzero(apart), strict=True)
        ],
        WithSpecial(
            state.everything.anisotropy,
            state.everything.mean_length,
            _mean(similar[np.isfinite(similar)]),
            state.everything.intra_similarity,
        ),
        dimensions(f"layer {number}", own.directions, state.probes),
        similar[compared] - own.anisotropy,
    )  # fmt: skip


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else float("nan")
