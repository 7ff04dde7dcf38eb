"""A pair task: left, right, and a gold score for each pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.errors import DataError


@dataclass(frozen=True, slots=True, eq=False)
class PairTask:
    """Pairs of texts (or of vectors alone) and how similar people say they are."""

    name: str
    gold: Array
    left_texts: Sequence[str] | None = None
    right_texts: Sequence[str] | None = None
    split: str | None = None

    def __post_init__(self) -> None:
        """Correlation needs at least three pairs whose gold scores differ."""
        if not np.isfinite(self.gold).all():
            row = int(np.flatnonzero(~np.isfinite(self.gold))[0])
            raise DataError(f"{self.name}: the gold score of pair {row} is not finite")
        if len(self.gold) < 3:  # noqa: PLR2004
            raise DataError(f"{self.name}: {len(self.gold)} pairs are too few: a correlation needs at least 3")
        if np.ptp(self.gold) == 0:
            raise DataError(f"{self.name}: all gold scores are {self.gold[0]:g}: nothing can agree with them")
