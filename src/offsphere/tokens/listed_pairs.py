"""Scores of listed pairs of texts under many measures and layers, in memory that does not grow with the texts.

The tokens of some left texts are kept; those of the right texts that they are compared with come by, a batch at a time,
and are forgotten. A model runs over a text once for all layers and measures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.base.progress import Progress
from offsphere.data.items import SideTexts
from offsphere.tokens.token_bags import TokenBags
from offsphere.tokens.token_measure import TextPairs, TokenMeasure
from offsphere.tokens.token_model import BagBatch, TokenModel
from offsphere.tokens.vocabulary import Vocabulary

LEFT_AT_ONCE = 1_024  # texts whose tokens are kept, at most
KEPT = 256 * 2**20  # bytes that their vectors may take, about
CHARACTERS_A_TOKEN = 4


class ListedScores(NamedTuple):
    """Scores of all pairs: ``by_layer[layer][measure]``; measures that need no layer stand under the first alone."""

    by_layer: Sequence[Sequence[Array | None]]


def score_listed(
    model: TokenModel,
    measures: Sequence[TokenMeasure],
    sides: tuple[SideTexts, SideTexts],
    pairs: TextPairs,
    layers: Sequence[int] = (0,),
    vocabulary: Vocabulary | None = None,
    progress: Progress | None = None,
) -> ListedScores:
    """Score pairs of texts by their tokens.

    Args:
        model: What gives token vectors.
        measures: What compares texts, fitted where they need it.
        sides: The texts of both sides.
        pairs: Which left text is compared with which right one.
        layers: Of a transformer; for a table the one that it has.
        vocabulary: Of all texts, for weights by frequency.
        progress: Is told how many right texts are done.

    Returns:
        A score a pair for each layer and measure; no number where a text has no token.

    Example:
        >>> import numpy as np
        >>> from offsphere import load_encoder
        >>> from offsphere.tokens.transport import Transport
        >>> from offsphere.data.items import SideTexts
        >>> texts = SideTexts("left", ["a red bus", "birds sing"]), SideTexts("right", ["a blue bus", "a red bus"])
        >>> from offsphere.tokens.token_model import token_model
        >>> model, pairs = token_model(load_encoder("wordllama")), TextPairs(np.array([0, 1]), np.array([1, 1]))
        >>> scores = score_listed(model, [Transport()], texts, pairs)
        >>> np.round(scores.by_layer[0][0], 2).tolist()
        [-0.0, -0.99]
    """
    (left, left_texts), (right, right_texts) = sides
    lefts, rights = (np.asarray(numbers, np.int64) for numbers in pairs)
    words = vocabulary or _nothing_counted()
    wanted = [[measure for measure in measures if not (number and measure.by_word)] for number in range(len(layers))]
    results = [[np.full(len(lefts), np.nan) for _ in some] for some in wanted]
    order = np.argsort(lefts, kind="stable")
    at_once = texts_at_once(left_texts, 4 * model.encoder.description.dimension * len(layers))
    starts = range(0, len(left_texts), at_once)
    total = sum(len(np.unique(rights[some])) for some in _chunks(lefts, order, starts))
    done = 0
    for start, chosen in zip(starts, _chunks(lefts, order, starts), strict=True):
        if not len(chosen):
            continue
        kept, positions = _collect(model.batches(left_texts[start : start + at_once], left, layers, words))
        needed = np.unique(rights[chosen])
        for batch in model.batches([right_texts[row] for row in needed.tolist()], right, layers, words):
            numbers = needed[batch.numbers]
            here, position = _pairs_with(rights[chosen], numbers)
            own = TextPairs(positions[lefts[chosen[here]] - start], position)
            for number, (kept_bags, bags) in enumerate(zip(kept, batch.layers, strict=True)):
                for measure, result in zip(wanted[number], results[number], strict=True):
                    result[chosen[here]] = measure.scores(kept_bags, bags, own)
            done += len(numbers)
            if progress is not None:
                progress(done, total)
    named = [
        {measure.name: scores for measure, scores in zip(some, result, strict=True)}
        for some, result in zip(wanted, results, strict=True)
    ]
    return ListedScores([[by_name.get(measure.name) for measure in measures] for by_name in named])


def texts_at_once(texts: Sequence[str], bytes_a_token: int) -> int:
    """How many texts can be kept as token vectors, the longest of them together; at least one.

    Example:
        >>> texts_at_once(["a wing"] * 5_000, 4 * 384), texts_at_once(["a wing " * 500] * 5_000, 4 * 384 * 7)
        (1024, 28)
    """
    if not texts:
        return 1
    tokens = 1 + max(len(text) for text in texts) / CHARACTERS_A_TOKEN
    return max(1, min(LEFT_AT_ONCE, int(KEPT / (tokens * bytes_a_token))))


def _chunks(lefts: Index, order: Index, starts: range) -> Iterator[Index]:
    """The pairs whose left text is in each chunk of left texts."""
    for start in starts:
        first, last = np.searchsorted(lefts[order], [start, start + starts.step])
        yield order[first:last]


def _pairs_with(rights: Index, numbers: Index) -> tuple[Index, Index]:
    """Which pairs have their right text among some, and which of these it is."""
    sorted_numbers = np.argsort(numbers, kind="stable")
    nearest = np.minimum(np.searchsorted(numbers[sorted_numbers], rights), len(numbers) - 1)
    position = sorted_numbers[nearest]
    here = np.flatnonzero(numbers[position] == rights)
    return here, position[here]


def _collect(batches: Iterator[BagBatch]) -> tuple[list[TokenBags], Index]:
    """All batches as one set of bags for each layer, and where in it each text stands."""
    parts = list(batches)
    numbers = np.concatenate([part.numbers for part in parts])
    positions = np.empty(len(numbers), np.int64)
    positions[numbers] = np.arange(len(numbers))
    return [_join([part.layers[layer] for part in parts]) for layer in range(len(parts[0].layers))], positions


def _join(parts: Sequence[TokenBags]) -> TokenBags:
    """The texts of several sets of bags, one after the other."""
    if len(parts) == 1:
        return parts[0]
    vectors = np.cumsum([0, *(len(part.table) for part in parts)])
    entries = np.cumsum([0, *(len(part.rows) for part in parts)])
    return TokenBags(
        np.concatenate([part.table for part in parts]),
        np.concatenate([part.ids for part in parts]),
        np.concatenate([part.rows + before for part, before in zip(parts, vectors, strict=False)]),
        np.concatenate([part.counts for part in parts]),
        np.concatenate([part.ends + before for part, before in zip(parts, entries, strict=False)]),
        np.concatenate([part.frequency for part in parts]),
        np.concatenate([part.lengths for part in parts]),
    )


def _nothing_counted() -> Vocabulary:
    """A vocabulary of nothing, for measures that ask for no frequency."""
    return Vocabulary(np.zeros(0, np.int64), np.zeros(0, np.int64), lambda ids: np.zeros((len(ids), 0), np.float32))
