"""What the length of a token says: how frequent it is, and how much it tells of what stands around it.

The squared length of static word vectors tracks what a word tells of its company (Oyama et al. 2023, arXiv:2212.09663).
Whether it does so in a table, or in the input embeddings of a transformer, is measured here on the user's own texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan, sqrt
from typing import Any

import numpy as np

from offsphere.base.arrays import Array, Rows
from offsphere.base.errors import OffsphereError
from offsphere.base.plain import plain
from offsphere.base.short_repr import short_repr
from offsphere.data.items import ItemSide
from offsphere.encode.encoder import Encoder
from offsphere.encode.token_blocks import tokens_in_blocks
from offsphere.encode.word_vectors import word_names, word_vectors
from offsphere.geometry.co_occurrence import information, information_by_chance
from offsphere.statistics.correlation import Correlation, correlation
from offsphere.vectors.lengths import lengths

LEAST = 10  # occurrences below which a token's company says too little
SHOWN = 10  # tokens at each end
FEWEST = 20  # tokens that there must be


@dataclass(frozen=True, slots=True, eq=False)
class Word:
    """One token: how long its vector is, how often it occurs, what it tells beyond chance."""

    token: str
    length: float
    count: int
    information: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Words:
    """The tokens of some texts that occur often enough: length against frequency and information."""

    model: str
    side: ItemSide
    texts: int
    tokens: int  # that all texts have
    least: int  # occurrences that a token must have
    compared: int  # tokens that have them
    frequency: Correlation  # logarithm of how often it occurs, against length
    information: Correlation  # what it tells beyond chance, against squared length
    centred: Correlation  # the same, the squared length being that of the vector less the mean of all occurrences
    frequency_and_information: Correlation
    beyond_frequency: float  # Spearman of squared length and information, frequency taken out of both
    longest: Sequence[Word]
    shortest: Sequence[Word]

    __repr__ = short_repr

    @property
    def sentence(self) -> str:
        """Which way length goes with frequency and with information."""
        rank, told = self.frequency.spearman, self.information.spearman
        more = "shorter" if rank.value < 0 else "longer"
        first = f"the more frequent a token, the {more}" if rank.excludes_zero else "length does not go with frequency"
        way = "longer" if told.value > 0 else "shorter"
        second = (
            f"the more it tells of its company, the {way}"
            if told.excludes_zero
            else "length does not say what it tells"
        )
        return (
            f"{self.model}: {first} (Spearman {rank}); {second} (Spearman {told}, and {self.beyond_frequency:.3f} with "
            "frequency taken out)"
        )

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values for machines."""
        return {"words": {"sentence": self.sentence, **plain(self)}}


def measure_words(
    encoder: Encoder, texts: Sequence[str], side: ItemSide = "document", *, least: int = LEAST, seed: int = 0
) -> Words:
    """Hold the length of each token's own vector against its frequency and against what it tells of its company.

    Args:
        encoder: A static model, or a transformer, of which the input embeddings are measured.
        texts: What tokens are counted in.
        side: Whose texts they are.
        least: How often a token must occur.
        seed: Of the shuffling that says what is chance.

    Returns:
        The correlations, and the longest and the shortest tokens.

    Raises:
        OffsphereError: A model without token vectors, or texts in which too few tokens occur often enough.

    Example:
        >>> import offsphere as osp
        >>> texts = [f"{w} {x} {y}" for w in "abcd" for x in "efghijklmnop" for y in "qrstuvwx"]
        >>> osp.measure_words(osp.load_encoder("wordllama"), texts).compared
        24
    """
    tokens = tokens_in_blocks(texts, encoder.tokens)
    if tokens is None:
        raise OffsphereError(f"{encoder.description.model} does not say which tokens it sees")
    ids, counts = np.unique(tokens.ids, return_counts=True)
    vectors = word_vectors(encoder, ids, side)
    often = counts >= least
    if often.sum() < FEWEST:
        raise OffsphereError(
            f"{int(often.sum())} tokens occur {least} times or more in {len(texts):,} texts: length against frequency "
            f"takes at least {FEWEST}; give more texts"
        )
    told = information(tokens, ids) - information_by_chance(tokens, ids, seed=seed)
    often &= np.isfinite(told)
    row_lengths = lengths(vectors)
    log_counts = np.log(counts[often])
    squared, gain = row_lengths[often] ** 2, told[often]
    order = np.flatnonzero(often)[np.argsort(-row_lengths[often], kind="stable")]
    names = word_names(encoder, ids[order].tolist(), side)
    words = [
        Word(name, float(row_lengths[row]), int(counts[row]), float(told[row]))
        for name, row in zip(names, order.tolist(), strict=True)
    ]
    frequency, to_information = correlation(log_counts, row_lengths[often]), correlation(gain, squared)
    frequency_and_information = correlation(log_counts, gain)
    return Words(
        model=encoder.description.model,
        side=side,
        texts=len(texts),
        tokens=len(tokens.ids),
        least=least,
        compared=len(words),
        frequency=frequency,
        information=to_information,
        centred=correlation(gain, lengths(_centred(vectors, counts.astype(np.float64)))[often] ** 2),
        frequency_and_information=frequency_and_information,
        beyond_frequency=_partial(
            to_information.spearman.value, frequency.spearman.value, frequency_and_information.spearman.value
        ),
        longest=words[:SHOWN],
        shortest=words[: -SHOWN - 1 : -1],
    )


def _centred(vectors: Rows, counts: Array) -> Rows:
    """Vectors less the mean over all occurrences."""
    return (vectors - np.average(vectors, axis=0, weights=counts)).astype(np.float32)


def _partial(both: float, first: float, second: float) -> float:
    """The correlation of two columns when a third, with which each is correlated so much, is taken out of both."""
    left = (1 - first**2) * (1 - second**2)
    return (both - first * second) / sqrt(left) if left > 0 else nan
