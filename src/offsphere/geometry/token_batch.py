"""A batch of sentences as tokens, and the state of a layer's vectors for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Flags, Index, Rows
from offsphere.base.errors import VectorError
from offsphere.geometry.directions import Directions
from offsphere.geometry.sample import Keys, Sample, random_keys, smallest
from offsphere.geometry.tokens import PROBES, LayerState, SentenceSums, TokenSums

LONGEST = 2**24  # tokens of a sentence, more than any model reads


class DrawnTokens(NamedTuple):
    """Tokens of a batch that were drawn at random, with the numbers they have in the whole."""

    keys: Keys
    numbers: Index
    rows: Index  # within the batch


@dataclass(slots=True, eq=False)
class TokenBatch:
    """Tokens of some sentences in a row, padding left out. What is the same for all layers is worked out once."""

    ids: Index  # (tokens,)
    sentences: Index  # (tokens,): number of the sentence within the batch
    special: Flags  # (tokens,)
    numbers: Index  # (sentences,): of each sentence in the whole
    seed: int = 0
    _groups: tuple[Index, Index, Index] = field(init=False)
    _counts: Array = field(init=False)
    _probes: tuple[Index, Index] = field(init=False)
    _any: DrawnTokens = field(init=False)

    def __post_init__(self) -> None:
        if self.sentences.size and not 0 <= self.sentences.min() <= self.sentences.max() < len(self.numbers):
            raise VectorError(f"tokens of sentence {self.sentences.max()} in a batch of {len(self.numbers)}")
        width = int(self.ids.max(initial=0)) + 1
        keys, group = np.unique(self.sentences * width + self.ids, return_inverse=True)
        distinct, slot = np.unique(keys % width, return_inverse=True)
        self._groups = (group.astype(np.int64), distinct, slot.astype(np.int64))
        ordinary = np.bincount(self.sentences[~self.special], minlength=len(self.numbers))
        self._counts = np.stack([ordinary, np.bincount(self.sentences, minlength=len(self.numbers))]).astype(np.float64)
        self._probes = self._draw_probes()
        self._any = self._draw_tokens()

    def state(self, rows: Rows) -> LayerState:
        """The state of one layer's token vectors (tokens, dimension)."""
        from offsphere.geometry.token_kernels import add_tokens

        group, distinct, slot = self._groups
        if rows.ndim != 2 or len(rows) != len(self.ids):  # noqa: PLR2004
            raise VectorError(f"vectors of shape {rows.shape} for {len(self.ids)} tokens: expected a row for each")
        shape = (2, len(self.numbers), rows.shape[1])
        lengths, raw, unit = np.empty(len(rows)), np.zeros(shape), np.zeros(shape)
        grouped = np.zeros((len(slot), rows.shape[1]))
        add_tokens(
            rows=rows,
            sentences=self.sentences,
            kinds=self.special.astype(np.int64),
            groups=group,
            lengths=lengths,
            raw=raw,
            unit=unit,
            grouped=grouped,
        )
        raw[1] += raw[0]
        unit[1] += unit[0]
        probed, tokens = self._probes
        keys = random_keys(probed, self.seed)
        kept = smallest(keys, PROBES)
        return LayerState(
            self._sums(0, raw[0], unit[0], lengths[~self.special]),
            self._sums(1, raw[1], unit[1], lengths),
            self._tokens(distinct, slot, group, grouped, lengths),
            Sample(PROBES, len(probed), keys[kept], probed[kept], np.asarray(rows[tokens[kept]], np.float32)),
            Sample(PROBES, len(rows), *self._any[:2], np.asarray(rows[self._any.rows], np.float32)),
        )

    def _sums(self, kind: int, raw: Array, unit: Array, lengths: Array) -> SentenceSums:
        """The sums over sentences of ordinary tokens (kind 0), or of all of them (kind 1)."""
        counts = self._counts[kind]
        present = counts > 0
        means = unit[present] / counts[present, None]
        sizes = np.linalg.norm(raw[present], axis=1)
        cosines = np.divide((means * raw[present]).sum(axis=1), sizes, out=np.zeros_like(sizes), where=sizes > 0)
        directions = Directions(int(present.sum()), means.sum(axis=0), (means**2).sum(axis=0))
        return SentenceSums(directions, float(cosines.sum()), len(lengths), float(lengths.sum()))

    def _tokens(self, distinct: Index, slot: Index, group: Index, grouped: Array, lengths: Array) -> TokenSums:
        """The sums over the occurrences of each distinct token, from those of equal tokens of a sentence."""
        counts = np.bincount(group, minlength=len(slot)).astype(np.float64)
        order = np.argsort(slot, kind="stable")
        starts = np.searchsorted(slot[order], np.arange(len(distinct)))
        totals = np.add.reduceat(grouped[order], starts, axis=0) if len(order) else grouped

        def add(slots: Index, values: Array) -> Array:
            return np.asarray(np.bincount(slots, values, len(distinct)), np.float64)

        return TokenSums(
            distinct,
            add(slot, counts),
            add(slot, counts**2),
            totals,
            add(slot, np.einsum("gd,gd->g", grouped, grouped)),
            add(slot[group], lengths),
        )

    def _draw_probes(self) -> tuple[Index, Index]:
        """The numbers of sentences that have an ordinary token, and the row of one such token of each, at random."""
        ordinary = np.flatnonzero(~self.special)
        counts = self._counts[0].astype(np.int64)
        starts = np.cumsum(counts) - counts
        order = np.argsort(self.sentences[ordinary], kind="stable")
        present = np.flatnonzero(counts > 0)
        drawn = (random_keys(self.numbers[present], self.seed + 1) % counts[present].astype(np.uint64)).astype(np.int64)
        return self.numbers[present], ordinary[order[starts[present] + drawn]]

    def _draw_tokens(self) -> DrawnTokens:
        """Some of all tokens; a token's number is made of its sentence's number and its position there."""
        order = np.argsort(self.sentences, kind="stable")
        counts = self._counts[1].astype(np.int64)
        positions = np.empty(len(order), np.int64)
        positions[order] = np.arange(len(order)) - (np.cumsum(counts) - counts)[self.sentences[order]]
        numbers = self.numbers[self.sentences] * LONGEST + positions
        keys = random_keys(numbers, self.seed + 2)
        kept = smallest(keys, PROBES)
        return DrawnTokens(keys[kept], numbers[kept], kept)
