"""The lengths of one side's vectors: how they are spread, and what in the text they follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Array, Index
from offsphere.base.short_repr import short_repr
from offsphere.geometry.evidence import Evidence
from offsphere.geometry.text_numbers import TextNumbers
from offsphere.statistics.correlation import Correlation, correlation
from offsphere.vectors.lengths import are_equal

QUANTILES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
BINS = 40
SOMETHING_TO_USE, NOISE = 0.1, 0.05  # coefficients of variation (Feng & Watanabe 2026, arXiv:2602.09229)
LENGTHS_DISCARDED = "these vectors were normalised; magnitude was discarded before we saw it"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LengthSummary:
    """Lengths of a side, those that are zero left out. ``variation`` is deviation over mean."""

    side: str
    count: int
    empty: int  # vectors of length zero; all else is of the others
    mean: float
    deviation: float
    variation: float
    quantiles: dict[str, float]
    histogram_counts: Index
    histogram_edges: Array
    normalised: bool  # spelt as it is in JSON
    with_characters: Correlation | None = None
    with_tokens: Correlation | None = None
    with_frequency: Correlation | None = None
    counted: str | None = None  # tokens of the model, or words
    frequency_of: str | None = None

    __repr__ = short_repr

    @property
    def sentence(self) -> str:
        """What the spread of the lengths means."""
        if self.normalised:
            return f"{self.side}: {LENGTHS_DISCARDED}"
        if self.count - self.empty < 2:  # noqa: PLR2004
            return f"{self.side}: {self.count - self.empty} vectors have a length: nothing can vary"
        worth = ", enough to change rankings" if self.variation > SOMETHING_TO_USE else ", which changes little"
        if self.variation < NOISE:
            worth = ", which is noise"
        if self.side == "query":
            worth = ", which no ranking sees"
        spread = f"{self.side}: lengths vary by {self.variation:.1%} of their mean{worth}"
        if self.with_characters is None or not self.with_characters.spearman.excludes_zero:
            return spread
        rank = self.with_characters.spearman.value
        return f"{spread}; longer texts have {'longer' if rank > 0 else 'shorter'} vectors (Spearman {rank:+.2f})"


def measure_lengths(evidence: Evidence) -> list[LengthSummary]:
    """The section: the lengths of each side."""
    texts: Sequence[TextNumbers | None] = evidence.texts or [None] * len(evidence.sides)
    return [
        length_summary(side.name, state.lengths, numbers)
        for side, state, numbers in zip(evidence.sides, evidence.scans, texts, strict=True)
    ]


def length_summary(side: str, lengths: Array, texts: TextNumbers | None = None) -> LengthSummary:
    """Summarise the lengths of one side, against its texts where they are known."""
    some = lengths[lengths > 0] if lengths.any() else lengths  # empty texts have no length that could mean anything
    mean, deviation = float(some.mean()), float(some.std())
    normalised = are_equal(lengths)
    counts, edges = np.histogram(some, bins=BINS, range=(0.5 * mean, 1.5 * mean) if normalised and mean > 0 else None)
    summary = LengthSummary(
        side=side,
        count=len(lengths),
        empty=int((lengths == 0).sum()),
        mean=mean,
        deviation=deviation,
        variation=deviation / mean if mean > 0 else 0.0,
        quantiles={f"{share:g}": float(at) for share, at in zip(QUANTILES, np.quantile(some, QUANTILES), strict=True)},
        histogram_counts=counts,
        histogram_edges=edges,
        normalised=normalised,
    )
    if texts is None or normalised:
        return summary
    return replace(
        summary,
        with_characters=_against(lengths, texts.characters),
        with_tokens=_against(lengths, texts.tokens),
        with_frequency=_against(lengths, texts.frequency),
        counted=texts.counted,
        frequency_of=texts.frequency_of,
    )


def _against(lengths: Array, numbers: NDArray[np.generic]) -> Correlation:
    """Lengths against a number of each text, over the vectors that have both."""
    known = np.isfinite(np.asarray(numbers, np.float64)) & (lengths > 0)
    return correlation(lengths[known], numbers[known])
