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


class NeighbourChange(NamedTuple):
    """One admissible change of the factors, and what became of the neighbours."""

    name: str
    overlap: float  # mean share of an item's nearest neighbours that stay
    rank_correlation: float  # of all cosines
    score_change: float  # largest relative change of the model's scores: rounding
    drawn: bool  # at random, where it has no name of its own


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Stability:
    """What admissible changes of the factors do to cosine neighbours, and the verdict.

    Example:
        >>> import numpy as np, offsphere as osp
        >>> factors = osp.factorize(np.random.default_rng(0).integers(0, 3, (40, 20)), k=5, objective=1)
        >>> trust = osp.stability(factors, neighbours=5, draws=2)
        >>> trust.determined, trust.changes[0].name, trust.changes[0].overlap, trust.worst.overlap < 0.8
        (False, 'no change', 1.0, True)
    """

    freedom: str
    neighbours: int
    changes: Sequence[NeighbourChange]
    overlaps: Array  # (items asked,) mean over random changes
    asked: Index  # which items
    items: int  # of how many
    determined: bool

    @property
    def least_trusted(self) -> list[tuple[int, float]]:
        """The ten items whose neighbours change most.

        Returns:
            Each item's row and the share of its neighbours that stays, the smallest first.
        """
        order = np.argsort(self.overlaps, kind="stable")[:LEAST_TRUSTED]
        return [(int(self.asked[number]), float(self.overlaps[number])) for number in order]

    @property
    def worst(self) -> NeighbourChange:
        """The change that leaves the fewest neighbours."""
        return min(self.changes, key=lambda change: change.overlap)

    @property
    def verdict(self) -> str:
        """Whether cosine means anything on these factors, in a sentence."""
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
        """The verdict, as a person reads it."""
        return f"Stability({self.verdict})"

    def to_json(self) -> dict[str, Any]:
        """The verdict and its numbers in plain values, for machines.

        Returns:
            The verdict, every change that was tried, and the least trusted items; ``json.dumps`` takes it.
        """
        return {
            "verdict": self.verdict,
            "determined": self.determined,
            "freedom": self.freedom,
            "neighbours": self.neighbours,
            "changes": [
                {
                    "name": change.name,
                    "overlap": plain(change.overlap),
                    "rank_correlation": plain(change.rank_correlation),
                    "score_change": plain(change.score_change),
                }
                for change in self.changes
            ],
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

    Args:
        factors: Ours, or item factors (items, k) of any dot-product model.
        users: The user factors of such a model, by which it is checked that no score changes.
        freedom: Which changes are allowed: ``diagonal``, ``invertible`` or ``rotation``. Our factors know it.
        regularized: What the training penalised, which implies it: the ``product`` of the factors or ``nothing`` (then
            any invertible change is allowed), or each of the ``factors`` (weight decay, ALS: a rotation alone is left).
        neighbours: How many nearest neighbours are watched.
        draws: How many random changes are tried.
        spread: The largest factor by which they stretch.
        seed: Of the changes, and of the items that are looked at where there are many.

    Returns:
        Every change with what became of the neighbours, and a verdict.

    Raises:
        OffsphereError: Factors that are no finite numbers, more neighbours than items, or a freedom that is missing or
            does not fit.

    Example:
        >>> import numpy as np, offsphere as osp
        >>> items = np.random.default_rng(0).normal(size=(50, 4))
        >>> [osp.stability(items, regularized=what, draws=2).determined for what in ("nothing", "factors")]
        [False, True]
    """
    items, named = _items_and_rescalings(factors)
    chosen = _choose_freedom(factors, freedom, regularized)
    user_factors = None if users is None else _numbers(users, "user")
    if user_factors is not None and user_factors.shape[1] != items.shape[1]:
        raise VectorError(
            f"user factors are {user_factors.shape}, item factors {items.shape}: the last numbers must be equal"
        )
    if not 1 <= neighbours < len(items):
        raise ParameterError(f"{neighbours} neighbours among {len(items)} items: ask for fewer")
    if draws < 1 or not spread > 1:
        raise ParameterError(f"draws = {draws}, spread = {spread}: a verdict takes a draw and a spread above 1")
    rng = np.random.default_rng(seed)
    asked = np.sort(rng.choice(len(items), min(ASKED, len(items)), replace=False))
    pairs = _ItemPairs.of(len(items), rng)
    before = _nearest(items, asked, neighbours)[0]
    ranks = pairs.ranks(items)
    changes, overlaps = [], []
    for move in _moves(items, chosen, named, draws, spread, rng):
        changed = items @ move.inverse.T if move.inverse.ndim == 2 else items * move.inverse  # noqa: PLR2004
        overlap = _overlap(changed, asked, before)
        correlation = float(np.corrcoef(ranks, pairs.ranks(changed))[0, 1])
        score_change = _score_change(user_factors, items, move.matrix, changed)
        changes.append(NeighbourChange(move.name, float(overlap.mean()), correlation, score_change, move.drawn))
        overlaps.append(overlap)
    worst = min(change.overlap for change in changes)
    drawn = [overlap for overlap, change in zip(overlaps, changes, strict=True) if change.drawn]
    return Stability(chosen, neighbours, changes, np.mean(drawn, axis=0), asked, len(items), worst >= STABLE)


def _items_and_rescalings(factors: Factors | Array) -> tuple[Array, Mapping[str, Array]]:
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
    """Factors of users or items as finite numbers, a row each."""
    try:
        numbers = np.asarray(factors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise VectorError(f"{kind} factors must be numbers, a row each: {error}") from error
    if numbers.ndim != 2 or not numbers.size:  # noqa: PLR2004
        raise VectorError(f"{kind} factors have shape {numbers.shape}: expected ({kind}s, dimensions)")
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers).all(axis=1))[0])
        raise VectorError(f"the factors of {kind} {row} are not finite: train again, or leave it out")
    return numbers


def _choose_freedom(factors: Factors | Array, freedom: str | None, regularized: str | None) -> str:
    """What may be changed: as the objective of our factors says, or as the user does."""
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
    chosen = REGULARIZED[regularized] if regularized is not None else freedom
    if chosen is None:
        raise ParameterError(
            "say what the training regularised: regularized='product', 'nothing' or 'factors' (weight decay on both "
            "sides, ALS), or the freedom: diagonal, invertible or rotation"
        )
    return chosen


class _Move(NamedTuple):
    """A change of the users' side, and its inverse for the items' side; diagonals as vectors."""

    name: str
    matrix: Array
    inverse: Array
    drawn: bool = True


def _moves(
    items: Array, freedom: str, named: Mapping[str, Array], draws: int, spread: float, rng: np.random.Generator
) -> Iterator[_Move]:
    """No change, the named rescalings where they are admissible, and random changes."""
    k = items.shape[1]
    yield _Move("no change", np.ones(k), np.ones(k), drawn=False)
    if freedom != "rotation":
        for name, diagonal in named.items():
            yield _Move(name, diagonal, 1 / diagonal, drawn=False)
    for draw in range(draws):
        stretch = spread ** rng.uniform(-1, 1, k)
        if freedom == "diagonal":
            yield _Move(f"random diagonal {draw + 1}", stretch, 1 / stretch)
            continue
        turn = _rotation(k, rng)
        if freedom == "rotation":
            yield _Move(f"random rotation {draw + 1}", turn, turn.T)
        else:
            second = _rotation(k, rng)
            # users get M = turn diag second, items M^-T; applied to rows as items @ (M^-1)^T
            matrix, inverse = (turn * stretch) @ second, second.T @ (turn / stretch).T
            yield _Move(f"random invertible {draw + 1}", matrix, inverse)


def _rotation(k: int, rng: np.random.Generator) -> Array:
    """A rotation (or reflection) of k dimensions, every one as likely."""
    q, r = np.linalg.qr(rng.standard_normal((k, k)))
    return np.asarray(q * np.sign(np.diag(r)))


def _nearest(items: Array, asked: Index, neighbours: int) -> tuple[Index, Array]:
    """The nearest items of each asked one by cosine, itself left out, and the cosine of the last of them."""
    rows = items.astype(np.float32)
    top = search(rows[asked], rows, [Scorer(COSINE)], neighbours + 1)[0]
    itself = top.documents == asked[:, None]
    itself[~itself.any(axis=1), -1] = True  # something exactly as near pushed it out: drop the last instead
    shape = (len(asked), neighbours)
    return top.documents[~itself].reshape(shape), top.scores[~itself].reshape(shape)[:, -1]


def _overlap(items: Array, asked: Index, before: Index) -> Array:
    """Which share of its neighbours each item keeps; one that is as near as the last has not gone, rounding aside."""
    _, last = _nearest(items, asked, before.shape[1])
    lengths = np.linalg.norm(items, axis=1)
    units = items / np.where(lengths > 0, lengths, 1.0)[:, None]
    cosines = np.einsum("ad,akd->ak", units[asked], units[before])
    # an item without length is near to nothing, before and after
    last = np.where(np.isfinite(last), last, -1.0)
    return np.asarray((cosines >= last[:, None] - ROUNDING).mean(axis=1))


class _ItemPairs(NamedTuple):
    """Pairs of different items whose cosines are ranked."""

    rows: Index
    columns: Index

    @classmethod
    def of(cls, items: int, rng: np.random.Generator) -> _ItemPairs:
        """Pairs drawn at random; those of an item with itself are left out."""
        rows, columns = rng.integers(0, items, (2, RANKED))
        apart = rows != columns
        return cls(rows[apart], columns[apart])

    def ranks(self, items: Array) -> Array:
        """The rank of each pair's cosine under some factors."""
        lengths = np.linalg.norm(items, axis=1)
        units = items / np.where(lengths > 0, lengths, 1.0)[:, None]
        return rankdata(np.einsum("nd,nd->n", units[self.rows], units[self.columns]).round(9))


def _score_change(users: Array | None, items: Array, matrix: Array, changed: Array) -> float:
    """By how much the scores of some users change, relative to the largest: it should be rounding."""
    some = users[:100] if users is not None else np.eye(items.shape[1])
    moved = some @ matrix if matrix.ndim == 2 else some * matrix  # noqa: PLR2004
    scores = some @ items.T
    return float(np.abs(moved @ changed.T - scores).max() / max(np.abs(scores).max(), np.finfo(float).tiny))
