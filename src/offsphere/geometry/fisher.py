"""Fisher information of the contrastive softmax on either side, under each normalisation. Our own construction.

Feng & Watanabe (2026) say that the condition number of a Fisher matrix predicts which side to normalise, without a
public definition. What is computed here is ours, and must not be read as theirs. With
``p_j(q) = softmax(alpha s(q, d_j))`` over a batch of documents, the gradient of ``log p_j`` with respect to q is
``alpha J_q (d_j - E_p d)``, so

- on the query side ``F = mean_q alpha^2 J_q Cov_{j~p(q)}[d_j] J_q``,
- on the document side, summed over the documents, ``F = alpha^2 Sum_q Sum_j p_j (1 - p_j) J_j q q^T J_j``,

where J is ``(I - x^ x^T) / |x|`` on a side that is normalised and the identity on one that is not, and the opposite
side gives unit vectors where it is normalised. The rank is below the size of the batch, so a ridge version of the
condition number stands beside the one over non-zero eigenvalues.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from offsphere.base.arrays import Array, Vectors
from offsphere.base.short_repr import short_repr
from offsphere.geometry.evidence import Evidence
from offsphere.geometry.positives import Positives
from offsphere.vectors.spectrum import effective_rank

SCALE = 20.0  # alpha: the inverse of a temperature of 0.05
BATCH = 256
BATCHES = 4
NONZERO = 1e-10  # of the largest eigenvalue
RIDGE = 1e-3  # of the mean eigenvalue
NORMALIZATIONS = {"both": (True, True), "none": (False, False), "query": (True, False), "document": (False, True)}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FisherSpectrum:
    """The information on one side under one normalisation."""

    side: str
    normalize: str
    scale: float  # alpha, divided by the mean lengths of the sides that are not normalised
    trace: float
    rank: int
    effective_rank: float
    condition: float  # over non-zero eigenvalues
    condition_ridge: float
    spectrum: Array

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, eq=False)
class Fisher:
    """All spectra, and from how many pairs they come. Our construction, not the papers'."""

    batch: int
    batches: int
    spectra: Sequence[FisherSpectrum]

    __repr__ = short_repr

    @property
    def sentence(self) -> str:
        """Which normalisation conditions each side best."""
        best = []
        for side in dict.fromkeys(row.side for row in self.spectra):
            row = min((row for row in self.spectra if row.side == side), key=lambda row: row.condition_ridge)
            best.append(f"the {side} side under '{row.normalize}' ({row.condition_ridge:.3g})")
        return f"best conditioned (ridge, our construction): {', '.join(best)}"


def measure_fisher(evidence: Evidence) -> Fisher:
    """The section: spectra of the Fisher information over positive pairs."""
    first, last = evidence.sides[0], evidence.sides[-1]
    names = first.name, last.name
    return fisher(first.vectors, last.vectors, evidence.positives, names, seed=evidence.seed)


def fisher(
    left: Vectors,
    right: Vectors,
    positives: Positives,
    sides: tuple[str, str] = ("query", "document"),
    *,
    batch: int = BATCH,
    seed: int = 0,
) -> Fisher:
    """Mean information over batches of positive pairs drawn without replacement."""
    order = np.random.default_rng(seed).permutation(len(positives))
    size = min(batch, len(order))
    parts = [order[start : start + size] for start in range(0, len(order) - size + 1, size)][:BATCHES]
    pairs = [
        (left[positives.left[part]].astype(np.float64), right[positives.right[part]].astype(np.float64))
        for part in parts
    ]
    spectra = []
    for name, normalized in NORMALIZATIONS.items():
        scale = calibrated_scale(positives, normalized)
        matrices = [fisher_information(queries, documents, normalized, scale) for queries, documents in pairs]
        shown = name if name not in ("query", "document") else sides[("query", "document").index(name)]
        for number, side in enumerate(sides):
            spectra.append(_spectrum(side, shown, scale, np.mean([both[number] for both in matrices], axis=0)))
    return Fisher(size, len(parts), spectra)


def calibrated_scale(positives: Positives, normalized: tuple[bool, bool]) -> float:
    """``alpha / (mean |q|^(1 - gq) mean |d|^(1 - gd))``: logits of one size, whichever sides keep their length."""
    left = 1.0 if normalized[0] else float(positives.left_lengths.mean())
    right = 1.0 if normalized[1] else float(positives.right_lengths.mean())
    return SCALE / (left * right)


def fisher_information(
    queries: Array, documents: Array, normalized: tuple[bool, bool], scale: float
) -> tuple[Array, Array]:
    """The query side's matrix (mean over queries) and the document side's (sum), for one batch.

    The projections are multiplied out, so that no matrix is formed for a single query or document.
    """
    query_lengths, document_lengths = np.linalg.norm(queries, axis=1), np.linalg.norm(documents, axis=1)
    q_hat, d_hat = queries / query_lengths[:, None], documents / document_lengths[:, None]
    q = q_hat if normalized[0] else queries
    d = d_hat if normalized[1] else documents
    logits = scale * (q @ d.T)
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)  # (queries, documents)

    weights = query_lengths**-2.0 if normalized[0] else np.ones(len(q))
    mean = p @ d
    on_queries = d.T @ ((weights @ p)[:, None] * d) - mean.T @ (weights[:, None] * mean)
    if normalized[0]:
        along = q_hat @ d.T  # (queries, documents)
        centre = (mean * q_hat).sum(axis=1)
        covariance_q = (p * along) @ d - mean * centre[:, None]  # Cov[d] q^, a row a query
        on_queries = _project(on_queries, q_hat, covariance_q, (covariance_q * q_hat).sum(axis=1), weights)

    spread = p * (1 - p) * (document_lengths**-2.0 if normalized[1] else 1.0)
    on_documents = q.T @ (spread.sum(axis=1)[:, None] * q)
    if normalized[1]:
        along = q @ d_hat.T
        crossed = (spread * along).T @ q  # Sum_q w (q . d^) q, a row a document
        on_documents = _project(on_documents, d_hat, crossed, (spread * along**2).sum(axis=0), np.ones(len(d)))
    return scale**2 / len(q) * on_queries, scale**2 * on_documents


def _project(total: Array, units: Array, images: Array, quadratic: Array, weights: Array) -> Array:
    """``Sum w (I - u u^T) C (I - u u^T)`` from ``Sum w C``, the images ``C u`` and the forms ``u^T C u``."""
    crossed = units.T @ (weights[:, None] * images)
    return np.asarray(total - crossed - crossed.T + units.T @ ((weights * quadratic)[:, None] * units))


def _spectrum(side: str, normalize: str, scale: float, matrix: Array) -> FisherSpectrum:
    """The spectrum of one information matrix, and what it says of its conditioning."""
    spectrum = np.maximum(np.linalg.eigvalsh((matrix + matrix.T) / 2)[::-1], 0)
    nonzero = spectrum[spectrum > NONZERO * spectrum[0]] if spectrum[0] > 0 else spectrum[:0]
    ridge = RIDGE * float(spectrum.mean())
    return FisherSpectrum(
        side=side,
        normalize=normalize,
        scale=scale,
        trace=float(spectrum.sum()),
        rank=len(nonzero),
        effective_rank=effective_rank(nonzero),
        condition=float(nonzero[0] / nonzero[-1]) if len(nonzero) else nan,
        condition_ridge=float((spectrum[0] + ridge) / (spectrum[-1] + ridge)) if ridge > 0 else nan,
        spectrum=spectrum,
    )
