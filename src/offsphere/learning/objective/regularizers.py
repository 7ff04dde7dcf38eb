"""What may be added to any contrastive loss: VRNS, penalties on lengths, uniformity."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from offsphere.base.errors import ParameterError
from offsphere.vectors.powered import powered


class RegularizerInput(NamedTuple):
    """What a regulariser may look at: raw vectors, and the directions' cosines where a negative counts."""

    queries: Tensor  # (pairs, dimension)
    documents: Tensor  # (pairs, dimension)
    negatives: Tensor  # (pairs, candidates) cosines; minus infinity where there is no negative


class Regularizer(Protocol):
    """A term that is added to a loss, with a weight."""

    @property
    def weight(self) -> float:
        """The factor by which the term counts."""
        ...

    def __call__(self, seen: RegularizerInput) -> Tensor:
        """The term for a batch, not yet weighted."""
        ...


@dataclass(frozen=True, slots=True)
class VRNS:
    """``mean over negatives of (cosine + 1/(n-1))^2``: pulls negatives to where the full-batch optimum has them.

    n is the size of the *training set*. Small batches scatter the negatives, and this gathers them again (variance
    reduction for negative similarities, Lee et al. 2025, arXiv:2506.09781). The mean is over the negatives there are,
    hard ones included.
    """

    training_size: int
    weight: float = 30.0

    def __post_init__(self) -> None:
        """Refuse a training set of one pair, which has no negatives."""
        if self.training_size < 2:  # noqa: PLR2004
            raise ParameterError(f"VRNS needs a training set of at least 2 pairs, not {self.training_size}")

    def __call__(self, seen: RegularizerInput) -> Tensor:
        """The mean squared distance of negatives from where the optimum has them."""
        counts = seen.negatives > -inf
        apart = (seen.negatives + 1 / (self.training_size - 1)).masked_fill(~counts, 0.0)
        return apart.square().sum() / counts.sum().clamp_min(1)


@dataclass(frozen=True, slots=True)
class LengthTarget:
    """``mean (|x| - target)^2`` over both sides: keeps lengths near a number."""

    target: float = 1.0
    weight: float = 0.1

    def __call__(self, seen: RegularizerInput) -> Tensor:
        """The mean squared distance from the target, both sides alike."""
        return torch.stack([(side.norm(dim=-1) - self.target).square().mean() for side in seen[:2]]).mean()


@dataclass(frozen=True, slots=True)
class LengthVariance:
    """The squared coefficient of variation of lengths, mean of both sides: keeps lengths alike, whatever they are."""

    weight: float = 0.1

    def __call__(self, seen: RegularizerInput) -> Tensor:
        """The variance over the squared mean, so that shrinking everything gains nothing."""
        lengths = [side.norm(dim=-1) for side in seen[:2]]
        return torch.stack([values.var(correction=0) / values.mean().square() for values in lengths]).mean()


@dataclass(frozen=True, slots=True)
class Uniformity:
    """``log mean exp(-2 |x - y|^2)`` over pairs of directions of a side (Wang & Isola 2020, arXiv:2005.10242)."""

    weight: float = 0.1

    def __call__(self, seen: RegularizerInput) -> Tensor:
        """The uniformity of each side, averaged over both."""
        return torch.stack([uniformity(side) for side in seen[:2]]).mean()


def uniformity(vectors: Tensor) -> Tensor:
    """``log mean exp(-2 |x - y|^2)`` over all pairs of directions in one set of vectors."""
    units = powered(vectors, 1.0)
    count = len(units)
    potentials = (4 * (units @ units.T) - 4).fill_diagonal_(-inf)  # |x - y|^2 = 2 - 2 cosine
    return potentials.flatten().logsumexp(0) - log(count * (count - 1))


def config_of(regularizer: Regularizer) -> dict[str, Any]:
    """The name and parameters of a regulariser as plain values."""
    names = getattr(type(regularizer), "__slots__", ())
    return {"name": type(regularizer).__name__.lower()} | {name: getattr(regularizer, name) for name in names}
