"""Stability: how far cosine neighbours can change while the model does not change at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from offsphere.base.arrays import Array, Index
from offsphere.base.errors import ParameterError, UnknownNameError, VectorError
from offsphere.base.plain import plain
from offsphere.factors.closed_form import PRODUCT, Factors
from offsphere.ranking.search import search
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE

FREEDOMS = ("diagonal", "invertible", "rotation")
REGULARIZED = {"product": "invertible", "nothing": "invertible", "factors": "rotation"}
STABLE = 0.9  # mean overlap from which cosine counts as determined
ASKED = 2_000  # items whose neighbours are looked at
RANKED = 100_000  # pairs of items whose cosines are ranked
ROUNDING = 1e-6  # of a cosine
LEAST_TRUSTED = 10
DRAWS, SPREAD = 10, 10.0  # random changes, and the largest factor they stretch by


class Change(NamedTuple):
    """One admissible change of the factors, and what became of the neighbours."""

    name: str
    overlap: float  # mean share of an item's nearest neighbours that stay
    rank_correlation: float  # of all cosines
    score_change: float  # largest relative change of the model's scores: rounding


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Stability:
    """What the changes do to cosine neighbours."""

    freedom: str
    neighbours: int
    changes: Sequence[Change]
    overlaps: Array  # (items asked,) mean over random changes
    asked: Index  # which items
    items: int  # of how many
    determined: bool

    @property
    def least_trusted(self) -> list[tuple[int, float]]:
        """The items whose neighbours change most, and how much of them stays."""
        order = np.argsort(self.overlaps, kind="stable")[:LEAST_TRUSTED]
        return [(int(self.asked[place]), float(self.overlaps[place])) for place in order]

    @property
    def worst(self) -> Change:
        """The change that moves most."""
        return min(self.changes, key=lambda change: change.overlap)

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.determined:
            return (
                f"Cosine is determined: under the worst of {len(self.changes)} admissible changes of the factors "
                f"({self.freedom}) {self.worst.overlap:.0%} of an item's {self.neighbours} nearest neighbours stay on "
                f"average{', provided that training penalised each factor' if self.freedom == 'rotation' else ''}."
            )
        return (
            f"Cosine is an accident of training: under {self.worst.name}, which changes no score of the model, only "
            f"{self.worst.overlap:.0%} of an item's {self.neighbours} nearest neighbours stay on average (rank "
            f"correlation of all cosines {self.worst.rank_correlation:+.2f}). Rank items for users by the dot product, "
            "and compare items in the original space (osp.original_space)."
        )

    def __repr__(self) -> str:
        """The verdict."""
        return f"Stability({self.verdict})"

    def to_json(self) -> dict[str, Any]:
        """Plain values for machines."""
        return {
            "verdict": self.verdict,
            "determined": self.determined,
            "freedom": self.freedom,
            "neighbours": self.neighbours,
            "changes": plain(list(self.changes)),
            "least_trusted": plain(self.least_trusted),
        }


def stability(
    factors: Factors | Array,
    users: Array | None = None,
    *,
    freedom: str | None = None,
    regularized: str | None = None,
    neighbours: int = 10,
    draws: int = DRAWS,
    spread: float = SPREAD,
    seed: int = 0,
) -> Stability:
    """Change the factors as the training objective allows, and see which cosine neighbours stay.

    ``factors`` are ours, or item factors (items, k) of any dot-product model; ``users`` its user factors, by which the
    unchanged scores are checked. ``regularized`` says what the training penalised: the ``product`` of the factors or
    ``nothing`` (then any invertible change is allowed), or each of the ``factors`` (weight decay, ALS: a rotation alone
    is left). ``freedom`` says it directly: diagonal, invertible, rotation.
    """
    items, named = _given(factors)
    chosen = _freedom(factors, freedom, regularized)
    known = None if users is None else _numbers(users, "user")
    if known is not None and known.shape[1] != items.shape[1]:
        raise VectorError(f"user factors are {known.shape}, item factors {items.shape}: the last numbers must be equal")
    if not 1 <= neighbours < len(items):
        raise ParameterError(f"{neighbours} neighbours among {len(items)} items: ask for fewer")
    if draws < 1 or not spread > 1:
        raise ParameterError(f"draws = {draws}, spread = {spread}: a verdict takes a draw and a spread above 1")
    rng = np.random.default_rng(seed)
    asked = np.sort(rng.choice(len(items), min(ASKED, len(items)), replace=False))
    sample = _Sample.of(len(items), rng)
    before = _nearest(items, asked, neighbours)[0]
    ranks = sample.ranks(items)
    changes, overlaps = [], []
    for name, matrix, inverse in _changes(items, chosen, named, draws, spread, rng):
        changed = items @ inverse.T if inverse.ndim == 2 else items * inverse  # noqa: PLR2004
        overlap = _stayed(changed, asked, before)
        correlation = float(np.corrcoef(ranks, sample.ranks(changed))[0, 1])
        changes.append(Change(name, float(overlap.mean()), correlation, _score_change(known, items, matrix, changed)))
        overlaps.append(overlap)
    worst = min(change.overlap for change in changes)
    random = [overlap for overlap, change in zip(overlaps, changes, strict=True) if change.name.startswith("random")]
    return Stability(chosen, neighbours, changes, np.mean(random, axis=0), asked, len(items), worst >= STABLE)


def _given(factors: Factors | Array) -> tuple[Array, Mapping[str, Array]]:
    """Item factors, and the rescalings that have a name in the paper."""
    if isinstance(factors, Factors):
        if factors.objective != PRODUCT:
            return factors.items, {}
        root = np.sqrt(factors.shrinkage)
        # D is what A is multiplied with, from the fit on; the items are divided by it
        named = {"D = 1": np.ones_like(root), "D = shrinkage^(1/2)": root, "D = shrinkage^(-1/2)": 1 / root}
        relative = {name: diagonal / factors.scaling for name, diagonal in named.items()}
        return factors.items, {name: d for name, d in relative.items() if not np.allclose(d, 1)}
    items = _numbers(factors, "item")
    lengths = np.linalg.norm(items, axis=0)
    return items, {"columns of equal length": np.where(lengths > 0, lengths, 1.0)}


def _numbers(factors: Any, kind: str) -> Array:
    try:
        found = np.asarray(factors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise VectorError(f"{kind} factors must be numbers, a row each: {error}") from error
    if found.ndim != 2 or not found.size:  # noqa: PLR2004
        raise VectorError(f"{kind} factors have shape {found.shape}: expected ({kind}s, dimensions)")
    if not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
        raise VectorError(f"the factors of {kind} {row} are not finite: train again, or leave it out")
    return found


def _freedom(factors: Factors | Array, freedom: str | None, regularized: str | None) -> str:
    if regularized is not None and regularized not in REGULARIZED:
        raise UnknownNameError("regularisation", regularized, list(REGULARIZED))
    if freedom is not None and freedom not in FREEDOMS:
        raise UnknownNameError("freedom", freedom, list(FREEDOMS))
    if isinstance(factors, Factors):
        if regularized is not None:
            raise ParameterError("these factors know their objective: leave out what was regularised")
        allowed = ("rotation",) if factors.unique else ("diagonal", "invertible")
        if freedom is not None and freedom not in allowed:
            given = f"objective {factors.objective} with lambda = {factors.regularization:g}"
            raise ParameterError(f"{given} leaves the freedom {' or '.join(allowed)}, not {freedom}")
        return freedom or allowed[0]
    if regularized is not None and freedom is not None:
        raise ParameterError("give either what was regularised or the freedom, not both")
    found = REGULARIZED[regularized] if regularized is not None else freedom
    if found is None:
        raise ParameterError(
            "say what the training regularised: regularized='product', 'nothing' or 'factors' (weight decay on both "
            "sides, ALS), or the freedom: diagonal, invertible or rotation"
        )
    return found


def _changes(
    items: Array, freedom: str, named: Mapping[str, Array], draws: int, spread: float, rng: np.random.Generator
) -> Iterator[tuple[str, Array, Array]]:
    """Name, the change of the users' side, and its inverse for the items' side; diagonals as vectors."""
    k = items.shape[1]
    yield "no change", np.ones(k), np.ones(k)
    if freedom != "rotation":
        for name, diagonal in named.items():
            yield name, diagonal, 1 / diagonal
    for draw in range(draws):
        stretch = spread ** rng.uniform(-1, 1, k)
        if freedom == "diagonal":
            yield f"random diagonal {draw + 1}", stretch, 1 / stretch
            continue
        turn = _rotation(k, rng)
        if freedom == "rotation":
            yield f"random rotation {draw + 1}", turn, turn.T
        else:
            other = _rotation(k, rng)
            # users get M = turn diag other, items M^-T; applied to rows as items @ (M^-1)^T
            yield f"random invertible {draw + 1}", (turn * stretch) @ other, other.T @ (turn / stretch).T


def _rotation(k: int, rng: np.random.Generator) -> Array:
    q, r = np.linalg.qr(rng.standard_normal((k, k)))
    return np.asarray(q * np.sign(np.diag(r)))


def _nearest(items: Array, asked: Index, neighbours: int) -> tuple[Index, Array]:
    """The nearest items of each asked one by cosine, itself left out, and the cosine of the last of them."""
    rows = items.astype(np.float32)
    found = search(rows[asked], rows, [Scorer(COSINE)], neighbours + 1)[0]
    itself = found.documents == asked[:, None]
    itself[~itself.any(axis=1), -1] = True  # something exactly as near pushed it out: drop the last instead
    shape = (len(asked), neighbours)
    return found.documents[~itself].reshape(shape), found.scores[~itself].reshape(shape)[:, -1]


def _stayed(items: Array, asked: Index, before: Index) -> Array:
    """Which share of its neighbours each item keeps; one that is as near as the last has not gone, rounding aside."""
    _, last = _nearest(items, asked, before.shape[1])
    lengths = np.linalg.norm(items, axis=1)
    units = items / np.where(lengths > 0, lengths, 1.0)[:, None]
    cosines = np.einsum("ad,akd->ak", units[asked], units[before])
    # an item without length is near to nothing, before and after
    last = np.where(np.isfinite(last), last, -1.0)
    return np.asarray((cosines >= last[:, None] - ROUNDING).mean(axis=1))


class _Sample(NamedTuple):
    """Pairs of different items whose cosines are ranked."""

    rows: Index
    columns: Index

    @classmethod
    def of(cls, items: int, rng: np.random.Generator) -> _Sample:
        rows, columns = rng.integers(0, items, (2, RANKED))
        apart = rows != columns
        return cls(rows[apart], columns[apart])

    def ranks(self, items: Array) -> Array:
        """Of their cosines."""
        lengths = np.linalg.norm(items, axis=1)
        units = items / np.where(lengths > 0, lengths, 1.0)[:, None]
        return rankdata(np.einsum("nd,nd->n", units[self.rows], units[self.columns]).round(9))


def _score_change(users: Array | None, items: Array, matrix: Array, changed: Array) -> float:
    """By how much the scores of some users change, relative to the largest: it should be rounding."""
    some = users[:100] if users is not None else np.eye(items.shape[1])
    moved = some @ matrix if matrix.ndim == 2 else some * matrix  # noqa: PLR2004
    scores = some @ items.T
    return float(np.abs(moved @ changed.T - scores).max() / max(np.abs(scores).max(), np.finfo(float).tiny))
