"""Do a few dimensions run the show? What each adds to the mean cosine, and what is left without the first ones.

The mean cosine may be that of all pairs of vectors (anisotropy) or of the occurrences of tokens (self-similarity).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from offsphere.base.arrays import Array, Index, Vectors
from offsphere.base.errors import OffsphereError
from offsphere.base.short_repr import short_repr
from offsphere.geometry.directions import Directions
from offsphere.geometry.evidence import Evidence
from offsphere.geometry.sample import Sample, smallest

Quantity = Literal["mean cosine", "self-similarity"]

SHARES = (0.1, 0.2, 0.5)
INFORMATIVE_ROWS = 2_048  # rows whose pairwise cosines are compared
ROGUE = 0.5  # share of the mean cosine that one dimension must have to be called so
CONE_AT_LEAST = 0.05  # below this mean cosine, shares of it mean little
AT_ONCE = 256
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Dimensions:
    """Contributions of dimensions to the mean cosine of a side, largest first."""

    side: str
    quantity: Quantity = "mean cosine"  # what the shares are of
    mean_cosine: float  # the quantity's value, either being a mean of cosines
    order: Index  # dimensions, the largest contribution first
    contributions: Array  # in that order; to self-similarity as shares of each token's, averaged over tokens
    cumulative_shares: dict[str, float]  # of the mean cosine, by the first 1, 2, 3
    needed: dict[str, int | None]  # how many dimensions make 10, 20, 50 % of it
    informativity: dict[str, float]  # r^2 of the cosines without the first k dimensions with those of all
    informative_rows: int

    __repr__ = short_repr

    @property
    def sentence(self) -> str:
        """Whether a single dimension makes most of the mean cosine, and what is left of the cosines without it."""
        if not self.mean_cosine >= CONE_AT_LEAST:
            means = "no dimension makes a cone" if self.quantity == "mean cosine" else "shares of it mean little"
            return f"{self.side}: the {self.quantity} is near zero, so {means}"
        first = self.cumulative_shares["1"]
        if first > ROGUE:
            left = next(iter(self.informativity.values()), float("nan"))
            return (
                f"{self.side}: dimension {self.order[0]} alone makes {first:.0%} of the {self.quantity}; without it "
                f"r^2 = {left:.2f} of the cosines is left"
            )
        return f"{self.side}: no dimension dominates; the first makes {first:.1%} of the {self.quantity}"


def measure_dimensions(evidence: Evidence) -> list[Dimensions]:
    """The section: what each dimension adds to the mean cosine, on each side."""
    if evidence.scans[0].dimension < 2:  # noqa: PLR2004
        raise OffsphereError("vectors of one dimension have no direction but a sign: there is nothing to drop")
    return [
        dimensions(side.name, state.directions, state.sample)
        for side, state in zip(evidence.sides, evidence.scans, strict=True)
    ]


def dimensions(side: str, directions: Directions, sample: Sample, drop: Sequence[int] | None = None) -> Dimensions:
    """Contributions of dimensions from the sums of directions, informativity from a sample of rows."""
    return rank_dimensions(side, "mean cosine", directions.mean_cosine, directions.contributions, sample, drop)


def rank_dimensions(
    side: str, quantity: Quantity, value: float, each: Array, sample: Sample, drop: Sequence[int] | None = None
) -> Dimensions:
    """The dimensions by what each adds to a quantity, and informativity from a sample of rows without the first."""
    order = np.argsort(-each, kind="stable")
    ranked = each[order]
    rows = sample.vectors[smallest(sample.keys, INFORMATIVE_ROWS)]
    counts = drop if drop is not None else drop_counts(len(each))
    total = float(each.sum())
    return Dimensions(
        side=side,
        quantity=quantity,
        mean_cosine=value,
        order=order,
        contributions=ranked,
        cumulative_shares={str(k): _share(float(ranked[:k].sum()), total) for k in (1, 2, 3) if k <= len(each)},
        needed={f"{share:g}": _needed(ranked, share) for share in SHARES},
        informativity={str(k): float(r2) for k, r2 in zip(counts, informativity(rows, order, counts), strict=True)},
        informative_rows=len(rows),
    )


def drop_counts(dimension: int) -> list[int]:
    """How many dimensions to drop: 1, 2, 3, 5, 10, 20, 30, 50, 100, 200, ... up to all but one."""
    steps = [digit * 10**power for power in range(6) for digit in (1, 2, 3, 5, 7)]
    return [k for k in steps if k < dimension and k not in (7, 70)]


def informativity(rows: Vectors, order: Index, drop: Sequence[int]) -> Array:
    """For each k, r^2 over all pairs of rows between their cosine and their cosine without the first k dimensions.

    (Xiao et al. 2023, arXiv:2212.09170, after Timkey & van Schijndel 2021.) The inner products without more dimensions
    are those without fewer less some outer products, so all k together cost one matrix product.
    """
    from offsphere.geometry.direction_kernels import add_similarities

    kept = rows.astype(np.float64)[:, order]
    kept = kept[kept.any(axis=1)]
    kept /= np.abs(kept).max(axis=1, keepdims=True)  # cosines do not see it, and nothing over- or underflows
    counts = sorted(drop)
    squares = np.concatenate([np.cumsum(kept[:, ::-1] ** 2, axis=1)[:, ::-1], np.zeros((len(kept), 1))], axis=1)
    inverses = np.stack([_inverse(squares[:, k], squares[:, 0]) for k in (0, *counts)])  # one over the length left
    sums = np.zeros((len(counts), 5))  # of c, c', c^2, c'^2, c c' over pairs
    for start in range(0, len(kept), AT_ONCE):
        some, before = kept[start : start + AT_ONCE], kept[: start + AT_ONCE]
        products = some @ before.T
        whole = products * inverses[0, start : start + AT_ONCE, None] * inverses[0, : start + AT_ONCE]
        done = 0
        for step, k in enumerate(counts):
            products -= some[:, done:k] @ before[:, done:k].T
            done = k
            add_similarities(whole, products, inverses[step + 1], start, sums[step])
    pairs = len(kept) * (len(kept) - 1) // 2
    values = np.array([_r_squared(row, pairs) for row in sums])
    return values[[counts.index(k) for k in drop]]


def _inverse(squared_lengths: Array, whole: Array) -> Array:
    """One over the length, and zero for what rounding leaves of a vector that had only the dropped dimensions."""
    some = squared_lengths > ROUNDING * whole
    inverse = np.zeros_like(squared_lengths)
    inverse[some] = squared_lengths[some] ** -0.5
    return inverse


def _r_squared(sums: Array, pairs: int) -> float:
    """The squared correlation of x and y from their sums x, y, x^2, y^2 and x y over so many pairs."""
    if pairs < 2:  # noqa: PLR2004
        return float("nan")
    x, y, xx, yy, xy = sums / pairs
    spread = (xx - x * x) * (yy - y * y)
    return float((xy - x * y) ** 2 / spread) if spread > ROUNDING**2 else float("nan")


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else float("nan")


def _needed(ranked: Array, share: float) -> int | None:
    """How many of the largest contributions make up a share of their sum, if any number does."""
    reached = np.flatnonzero(np.cumsum(ranked) >= share * ranked.sum())
    return int(reached[0]) + 1 if len(reached) else None
