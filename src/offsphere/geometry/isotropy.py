"""Is the space a narrow cone? One side's mean cosine, spectrum, partition score and uniformity."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isfinite, log, nan, sqrt

import numpy as np

from offsphere.base.arrays import Array, Rows
from offsphere.base.short_repr import short_repr
from offsphere.geometry.evidence import Evidence
from offsphere.geometry.sample import Sample, smallest
from offsphere.geometry.scanning import Scan
from offsphere.statistics.estimate import UNDEFINED, Estimate
from offsphere.vectors.spectrum import effective_rank, eigenvalues, isoscore

CONE = 0.5  # a mean cosine above this is a narrow cone
PAIRED = 4_096  # rows of a sample whose pairs are formed; all rows where the sample is the whole
AT_ONCE = 1_024  # rows of a sample that are multiplied with all of it
DIRECTIONS = 8  # whose exponentials are summed at a time
EFFECTIVE = 200  # rows that must share a partition sum for a sample to estimate it
LEADING = (1, 3, 10)  # components whose share of the variance is given


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Isotropy:
    """How the vectors of a side fill their space."""

    side: str
    mean_cosine: float  # over all pairs, exact
    cosine_variance: Estimate  # over pairs
    isoscore: float
    effective_rank: float
    dimension: int
    constant_dimensions: int
    variance_shares: dict[str, float]  # of the variance, by the first principal components
    top_dimension: int  # the dimension, as the model gave it, that varies most
    top_dimension_share: float  # of the variance
    spectrum: Array
    partition: Estimate  # of raw vectors
    uniformity: Estimate
    sampled: int | None  # rows whose pairs were formed, where not all were; the partition score has all of the sample

    __repr__ = short_repr

    @property
    def sentence(self) -> str:
        """Whether the vectors lie in a narrow cone, and how many dimensions their variance fills."""
        if not isfinite(self.mean_cosine) or not isfinite(self.effective_rank):
            return f"{self.side}: there are no two different directions to speak of"
        score = f" (IsoScore {self.isoscore:.3f})" if isfinite(self.isoscore) else ""
        shape = "a narrow cone" if self.mean_cosine > CONE else "no narrow cone"
        return (
            f"{self.side}: {shape} (mean cosine {self.mean_cosine:.3f}); the variance fills about "
            f"{self.effective_rank:.0f} of {self.dimension} dimensions{score}"
        )


def measure_isotropy(evidence: Evidence) -> list[Isotropy]:
    """The section: how the vectors of each side fill their space."""
    return [isotropy(side.name, state) for side, state in zip(evidence.sides, evidence.scans, strict=True)]


def isotropy(side: str, state: Scan) -> Isotropy:
    """How vectors fill their space: exact where it is linear in them, from the sample where it is quadratic."""
    spectrum = eigenvalues(state.moments.covariance)
    total, variances = spectrum.sum(), np.diag(state.moments.covariance)
    variance, uniformity = _over_pairs(state.sample)
    shares = {str(k): float(spectrum[:k].sum() / total) if total > 0 else nan for k in LEADING if k < state.dimension}
    return Isotropy(
        side=side,
        mean_cosine=state.directions.mean_cosine,
        cosine_variance=variance,
        isoscore=isoscore(spectrum),
        effective_rank=effective_rank(spectrum),
        dimension=state.dimension,
        constant_dimensions=int((variances <= 0).sum()),
        variance_shares=shares,
        top_dimension=int(variances.argmax()),
        top_dimension_share=float(variances.max() / variances.sum()) if variances.sum() > 0 else nan,
        spectrum=spectrum,
        partition=partition_score(state),
        uniformity=uniformity,
        sampled=None if state.sample.whole else min(len(state.sample.rows), PAIRED),
    )


def partition_score(state: Scan) -> Estimate:
    """``min Z(c) / max Z(c)`` over the eigenvectors c of ``Sum x x^T``, where ``Z(c) = Sum exp(c . x)``.

    Mu & Viswanath (2018), after Arora et al. (2016): 1 where no direction is preferred. An eigenvector has no sign, so
    both signs are tried; then the score does not change when the space is turned.
    """
    _, vectors = np.linalg.eigh(state.moments.second)
    along = vectors.T @ state.sample.vectors.T.astype(np.float64)  # (dimension, sample)
    logarithms, effective = (part.ravel() for part in _exponential_means(along))
    low, high = int(logarithms.argmin()), int(logarithms.argmax())
    value = float(logarithms[low] - logarithms[high])
    if state.sample.whole:
        return Estimate(exp(value))
    if min(effective[low], effective[high]) < EFFECTIVE:
        return UNDEFINED  # a few rows make up the sum: a sample cannot tell
    least, most = (_signed(along, which) - logarithms[which] for which in (low, high))
    error = float((np.exp(least) - np.exp(most)).std()) / sqrt(along.shape[1])
    around = Estimate.around(value, error)
    return Estimate(exp(value), exp(around.low or 0.0), exp(around.high or 0.0))


def _exponential_means(along: Array) -> tuple[Array, Array]:
    """``log mean exp`` of each row and of its negative, (2, rows), and how many numbers share each sum.

    Few rows at a time: what is made on the way stays in the cache.
    """
    logarithms, effective = np.empty((2, len(along))), np.empty((2, len(along)))
    for side, sign in enumerate((1.0, -1.0)):
        for start in range(0, len(along), DIRECTIONS):
            chosen = slice(start, start + DIRECTIONS)
            shifted = sign * along[chosen]
            highest = shifted.max(axis=1)
            shifted -= highest[:, None]
            np.exp(shifted, out=shifted)
            sums = shifted.sum(axis=1)
            logarithms[side, chosen] = highest + np.log(sums / along.shape[1])
            effective[side, chosen] = sums**2 / np.einsum("ds,ds->d", shifted, shifted)
    return logarithms, effective


def _signed(along: Array, which: int) -> Array:
    """One of the rows, or of their negatives behind them."""
    return np.asarray(along[which] if which < len(along) else -along[which - len(along)])


def _over_pairs(sample: Sample) -> tuple[Estimate, Estimate]:
    """The variance of the cosine, and uniformity ``log E exp(-2 |x - y|^2)`` (Wang & Isola 2020), over pairs.

    Each is a mean over pairs, a U-statistic: its standard error is twice that of the mean of the rows' own means.
    A row's mean cosine and mean squared cosine follow from sums over the directions; only its potential needs pairs.
    """
    rows = (sample.vectors if sample.whole else sample.vectors[smallest(sample.keys, PAIRED)]).astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1)
    units = rows[lengths > 0] / lengths[lengths > 0, None]
    count = len(units)
    if count < 2:  # noqa: PLR2004
        return UNDEFINED, UNDEFINED
    cosine = (units @ units.sum(axis=0) - 1) / (count - 1)
    square = (((units @ (units.T @ units)) * units).sum(axis=1) - 1) / (count - 1)
    potential = _potentials(units.astype(np.float32)) / (count - 1)
    mean = cosine.mean()
    variance = square - 2 * mean * cosine + mean**2
    level = float(potential.mean())
    if sample.whole:
        return Estimate(float(variance.mean())), Estimate(log(level))
    errors = 2 * np.array([variance.std(), potential.std() / level]) / sqrt(count)
    return Estimate.around(float(variance.mean()), errors[0]), Estimate.around(log(level), errors[1])


def _potentials(units: Rows) -> Array:
    """For each row, the sum over all others of ``exp(-2 |x - y|^2) = exp(4 c - 4)``; each pair is formed once."""
    sums = np.zeros(len(units))
    for start in range(0, len(units), AT_ONCE):
        some, later = units[start : start + AT_ONCE], units[start:]
        end = start + len(some)
        potentials = some @ later.T
        potentials *= 4
        potentials -= 4
        np.exp(potentials, out=potentials)
        np.fill_diagonal(potentials, 0)
        sums[start:end] += potentials.sum(axis=1)
        sums[end:] += potentials[:, len(some) :].sum(axis=0)
    return sums
