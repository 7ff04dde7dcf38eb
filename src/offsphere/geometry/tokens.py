"""Token vectors of one layer, summed up batch by batch: what anisotropy and contextualisation are computed from.

All means over pairs are exact and linear in the tokens. With m_k the mean direction of sentence k's tokens, the mean
cosine of two tokens drawn from two different sentences is ``(|Sum m_k|^2 - Sum |m_k|^2) / (K (K - 1))``: what
Ethayarajh (2019) and Xiao et al. (2023) estimate from one token of each of 1,000 sentences. With S the sum of the
directions of a token's occurrences, and S_k that within sentence k, the mean cosine of two occurrences in different
sentences is ``(|S|^2 - Sum |S_k|^2) / (N^2 - Sum N_k^2)``; over all pairs of occurrences, those of an occurrence with
itself among them, it is ``|S|^2 / N^2``, of which dimension i makes the share ``S_i^2 / |S|^2``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np

from offsphere.base.arrays import Array, Flags, Index
from offsphere.geometry.directions import Directions
from offsphere.geometry.sample import Sample

PROBES = 1_000  # sentences of which one token is kept, and tokens that are kept of all


@dataclass(frozen=True, slots=True, eq=False)
class SentenceSums:
    """Sums over sentences, each counting once: mean directions, and cosines of tokens with their sentence's mean."""

    directions: Directions  # of the sentences' mean token directions, which are no unit vectors
    intra: float  # sum over sentences of the mean cosine of their tokens with the mean of their tokens
    tokens: int
    length: float  # sum over tokens

    def merge(self, other: SentenceSums) -> SentenceSums:
        """The sums of both sets of sentences together."""
        return SentenceSums(
            self.directions.merge(other.directions),
            self.intra + other.intra,
            self.tokens + other.tokens,
            self.length + other.length,
        )

    @property
    def anisotropy(self) -> float:
        """The mean cosine of two tokens of two different sentences."""
        return self.directions.mean_cosine

    @property
    def intra_similarity(self) -> float:
        """The mean over sentences of the mean cosine of its tokens with their mean."""
        return self.intra / self.directions.count if self.directions.count else nan

    @property
    def mean_length(self) -> float:
        """The mean length of all token vectors."""
        return self.length / self.tokens if self.tokens else nan


@dataclass(frozen=True, slots=True, eq=False)
class TokenSums:
    """Sums over the occurrences of each distinct token, in the order of the tokens' numbers."""

    ids: Index  # (distinct,)
    counts: Array
    counts_squared: Array  # Sum N_k^2 over sentences
    totals: Array  # (distinct, dimension): S
    totals_squared: Array  # Sum |S_k|^2
    lengths: Array  # summed

    def merge(self, other: TokenSums) -> TokenSums:
        """The sums of both sets together."""
        ids = np.union1d(self.ids, other.ids)
        positions, other_positions = np.searchsorted(ids, self.ids), np.searchsorted(ids, other.ids)

        def add(sums: Array, other_sums: Array) -> Array:
            result = np.zeros((len(ids), *sums.shape[1:]))
            result[positions] += sums
            result[other_positions] += other_sums
            return result

        return TokenSums(
            ids,
            add(self.counts, other.counts),
            add(self.counts_squared, other.counts_squared),
            add(self.totals, other.totals),
            add(self.totals_squared, other.totals_squared),
            add(self.lengths, other.lengths),
        )

    @property
    def self_similarity(self) -> Array:
        """Per token, the mean cosine of two occurrences in different sentences; no number for those of one sentence."""
        pairs = self.counts**2 - self.counts_squared
        together = (self.totals**2).sum(axis=1) - self.totals_squared
        return np.asarray(np.divide(together, pairs, out=np.full(len(pairs), nan), where=pairs > 0))

    @property
    def self_similarity_with_itself(self) -> Array:
        """Per token, the mean cosine over all pairs of occurrences: also within a sentence, and each with itself."""
        return np.asarray((self.totals**2).sum(axis=1) / self.counts**2)

    def dimension_shares(self, chosen: Flags) -> Array:
        """What each dimension makes of that: its share within a token, averaged over the tokens that are chosen."""
        squares = self.totals[chosen] ** 2
        whole = squares.sum(axis=1)
        return np.asarray((squares[whole > 0] / whole[whole > 0, None]).mean(axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class LayerState:
    """What is kept of one layer's token vectors. States of different sentences merge."""

    ordinary: SentenceSums  # without special tokens
    everything: SentenceSums  # with them
    tokens: TokenSums
    probes: Sample  # one ordinary token of each of some sentences
    any_tokens: Sample  # some of all tokens, special ones among them, each as likely

    def merge(self, other: LayerState) -> LayerState:
        """The state of both sets of sentences together."""
        return LayerState(
            self.ordinary.merge(other.ordinary),
            self.everything.merge(other.everything),
            self.tokens.merge(other.tokens),
            self.probes.merge(other.probes),
            self.any_tokens.merge(other.any_tokens),
        )
