"""Folding: a scorer as steps that a model can do itself after its own stages, one list of steps a side.

The inner product of what the two lists make ranks as the scorer does. There are three kinds of steps: an affine map,
a division by a power of the length, and a bend, which knows squares. sentence-transformers has stages for all of them
but for powers other than 1, and these formulas make euclidean, norm-mix and radial-confidence from them:

- A division by the length, of ``[d, t]`` with a tiny ``t``, gives ``[d / |d|, t / |d|]``: the inverse length is a
  number of the vector. With a number x beside a tiny vector, ``[t v, x]``, it gives ``[t v / x, 1]``: a division by
  any number.
- Hardswish is ``h(z) = z (z + 3) / 6`` where ``|z| <= 3`` (Howard et al. 2019, arXiv:1905.02244), so that
  ``h(z) + h(-z)`` is ``z^2 / 3`` and ``h(z) - h(-z)`` is ``z``: the squared length is a sum of such numbers, and the
  vector passes unharmed. Each dimension is scaled so that it stays far below 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from offsphere.base.arrays import Array, Vectors
from offsphere.base.errors import OffsphereError
from offsphere.scoring.lowering import NotLowerableError
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import (
    Euclidean,
    LengthPrior,
    LogPrior,
    NormMix,
    Polar,
    RadialConfidence,
    Similarity,
)
from offsphere.scoring.transforms import AdapterMap, AffineMap, FittedMap, LayerNorm, Side, parts_of
from offsphere.vectors.lengths import lengths

TINY = 1e-9  # beside a vector, so that it does not count in its length: its square is below what float32 can tell
FAINT = 1e-5  # a vector beside a number: as tiny, and far from the smallest numbers still
DWARFS = 2  # times what is left of vectors without their mean: so long a mean is subtracted first
ROUNDING = 1e-9  # share of a shift that is no more than rounding in float64
MARGIN = 16  # how much larger than any sample a dimension may be and be squared rightly


@dataclass(frozen=True, slots=True)
class Divide:
    """Divide a vector by its length to a power."""

    exponent: float


@dataclass(frozen=True, slots=True)
class Bend:
    """Put every number that the affine map before it gives through Hardswish."""


Step = AffineMap | Divide | Bend


def folded(scorer: Scorer, samples: Mapping[Side, Vectors]) -> dict[Side, list[Step]]:
    """Say what is to be done with the vectors of each side, so that their inner product ranks as the scorer does.

    Args:
        scorer: What is to be folded; fitted where it has transforms.
        samples: Vectors of each side as the model gives them, to know their scale.

    Returns:
        The steps of the queries and of the documents, affine maps joined.

    Raises:
        NotLowerableError: The scorer ties the two lengths together.
        OffsphereError: A part of it is no function of one vector, or is not made of these steps.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> from offsphere.engines.models.folding import folded
        >>> rows = np.eye(3, dtype=np.float32)
        >>> folded(osp.parse_scorer("query-normalized"), {"query": rows, "document": rows})
        {'query': [Divide(exponent=1.0)], 'document': []}
    """
    refuse_unfoldable(scorer)
    similarity = scorer.similarity.orders_as
    width = samples["query"].shape[1]
    parts = parts_of(scorer.map) if scorer.transforms else ()
    steps: dict[Side, list[Step]] = {}
    for side, rows in samples.items():
        mapped = scorer.transform(rows, side)
        begin = _steps_of_maps(parts, side, rows)
        end = _SIMILARITIES[type(similarity)](similarity, side, np.asarray(mapped, np.float64))
        steps[side] = _subtracting_first(joined_steps([*begin, *end], width), np.asarray(rows, np.float64))
    return steps


def refuse_unfoldable(scorer: Scorer) -> None:
    """Raise an error that names the part of a scorer which no stage of a model can do, and the nearest without it."""
    if scorer.bias is not None or scorer.standardization is not None:
        bound = scorer.bias.name if scorer.bias is not None else "z-score"
        nearest = replace(scorer, bias=None, standardization=None)
        raise OffsphereError(
            f"{scorer.name} cannot be folded into a model: {bound} depends on the documents of one corpus, which a "
            f"model does not know; the nearest that can be folded is {nearest.name}"
        )
    if isinstance(scorer.similarity.orders_as, LogPrior | LengthPrior):
        raise OffsphereError(
            f"{scorer.name} cannot be folded into a model: sentence-transformers has no stage that takes a logarithm; "
            f"the nearest that can be folded is {replace(scorer, similarity=NormMix(0.9)).name}, which adds the length "
            "itself. An engine serves it as it is: offsphere export"
        )
    if type(scorer.similarity.orders_as) not in _SIMILARITIES and scorer.similarity.lowers:
        raise OffsphereError(
            f"{scorer.name} cannot be folded into a model: {scorer.similarity.name}, {scorer.similarity.formula}, is "
            "an inner product of one vector a side, but no way is known here to make these of the stages that "
            "sentence-transformers has. An engine serves it as it is: offsphere export"
        )
    if type(scorer.similarity.orders_as) not in _SIMILARITIES:
        raise NotLowerableError(
            f"{scorer.name} cannot be folded into a model: {scorer.similarity.name}, {scorer.similarity.formula}, is "
            "no inner product of one vector a side; the nearest that can be folded is "
            f"{replace(scorer, similarity=Euclidean()).name}, for which two lengths should be alike too"
        )
    for part in parts_of(scorer.map):
        if isinstance(part, AdapterMap) and (part.query.head is not None or part.document.head is not None):
            raise OffsphereError(
                f"{scorer.name} cannot be folded into a model: the magnitude head of {part.name} is no map that "
                "sentence-transformers has; the nearest that can be folded is an adapter trained without a head"
            )


def _steps_of_maps(parts: Sequence[FittedMap], side: Side, rows: Vectors) -> list[Step]:
    """The steps of fitted maps, one after the other, for vectors like these rows."""
    steps: list[Step] = []
    for part in parts:
        steps += _steps_of_map(part, side, rows.shape[1])
        rows = part.apply(rows, side)
    return steps


def _steps_of_map(part: FittedMap, side: Side, width: int) -> list[Step]:
    """The steps of one fitted map, of vectors of a width."""
    if isinstance(part, AffineMap):
        return [part]
    if isinstance(part, LayerNorm):
        return [
            AffineMap(np.eye(width) - 1 / width, np.zeros(width)),
            Divide(1.0),
            AffineMap(np.full(width, width**0.5), np.zeros(width)),
        ]
    if not isinstance(part, AdapterMap):
        raise OffsphereError(f"a {type(part).__name__} cannot be folded into a model: give it as a Linear map")
    adapter = part.query if side == "query" else part.document
    steps: list[Step] = [Divide(adapter.input)] if adapter.input else []
    if adapter.matrix is not None:
        steps.append(AffineMap(adapter.matrix, np.zeros(adapter.matrix.shape[1])))
    return steps


def _polar(similarity: Similarity, side: Side, _: Array) -> list[Step]:
    exponent = similarity.parameters[side]
    return [Divide(exponent)] if exponent else []


def _euclidean(_: Similarity, side: Side, rows: Array) -> list[Step]:
    """``[q, 1]`` and ``[d, -|d|^2 / 2]``."""
    width = rows.shape[1]
    return [_appended(width, 1.0)] if side == "query" else _with_squared_length(rows, -0.5)


def _norm_mix(similarity: Similarity, side: Side, rows: Array) -> list[Step]:
    """``[q / |q|, 1]`` and ``[alpha d / |d|, (1 - alpha) |d|]``: a tiny ``|d|^2``, over ``|d|``, is a tiny ``|d|``."""
    width, alpha = rows.shape[1], similarity.parameters["alpha"]
    if side == "query":
        return [Divide(1.0), _appended(width, 1.0)]
    tiny = TINY / _typical_length(rows)
    scales = np.append(np.full(width, alpha), (1 - alpha) / tiny)
    return [*_with_squared_length(rows, tiny), Divide(1.0), AffineMap(scales, np.zeros(width + 1))]


def _radial_confidence(similarity: Similarity, side: Side, rows: Array) -> list[Step]:
    """``q / |q|`` and ``d / (|d| + half)``, which is the direction of d over ``1 + half / |d|``."""
    if side == "query":
        return [Divide(1.0)]
    width, half = rows.shape[1], similarity.parameters["half"]
    tiny = TINY * _typical_length(rows)
    beside = AffineMap(np.append(np.full(width, FAINT), half / tiny), np.append(np.zeros(width), 1.0))
    alone = AffineMap(np.eye(width + 1)[:, :width] / FAINT, np.zeros(width))
    return [_appended(width, tiny), Divide(1.0), beside, Divide(1.0), alone]


_SIMILARITIES: dict[type[Similarity], Callable[[Similarity, Side, Array], list[Step]]] = {
    Polar: _polar,
    Euclidean: _euclidean,
    NormMix: _norm_mix,
    RadialConfidence: _radial_confidence,
}


def _appended(width: int, constant: float) -> AffineMap:
    """The map that puts a constant behind a vector."""
    return AffineMap(np.eye(width, width + 1), np.append(np.zeros(width), constant))


def _with_squared_length(rows: Array, factor: float) -> list[Step]:
    """The steps that put the squared length, times a factor, behind a vector."""
    width = rows.shape[1]
    largest = np.abs(rows).max(axis=0, initial=0.0)
    scale = MARGIN / 3 * np.maximum(largest, largest.mean() or 1.0)  # of each dimension
    spread = np.concatenate([np.diag(1 / scale), np.diag(-1 / scale)], axis=1)  # (width, 2 width): z and -z
    vector = np.concatenate([np.diag(scale), np.diag(-scale)])
    squares = np.tile(3 * factor * scale**2, 2)
    return [
        AffineMap(spread, np.zeros(2 * width)),
        Bend(),
        AffineMap(np.concatenate([vector, squares[:, None]], axis=1), np.zeros(width + 1)),
    ]


def _typical_length(rows: Array) -> float:
    """The median length of vectors that have one; one where none has."""
    row_lengths = lengths(rows)
    return float(np.median(row_lengths[row_lengths > 0])) if (row_lengths > 0).any() else 1.0


def joined_steps(steps: list[Step], width: int) -> list[Step]:
    """The same steps with neighbouring affine maps made one; a map that changes no vector of ``width`` is left out."""
    kept: list[Step] = []
    for step in steps:
        last = kept[-1] if kept else None
        if isinstance(last, AffineMap) and isinstance(step, AffineMap):
            kept[-1] = last.then(step)
        else:
            kept.append(step)
    return [step for step in kept if not (isinstance(step, AffineMap) and _is_identity(step, width))]


def _subtracting_first(steps: list[Step], rows: Array) -> list[Step]:
    """Let a mean be subtracted before a map, where it dwarfs what is left: after it float32 has rounded that away."""
    first = steps[0] if steps else None
    if not isinstance(first, AffineMap) or first.matrix.ndim == 1 or not first.shift.any():
        return steps
    mapped = first.matrix.any(axis=0)  # the other columns are constants
    center, *_ = np.linalg.lstsq(first.matrix[:, mapped].T, -first.shift[mapped], rcond=None)
    apart = np.abs(center @ first.matrix[:, mapped] + first.shift[mapped]).max(initial=0.0)
    dwarfs = np.linalg.norm(center) > DWARFS * np.median(np.linalg.norm(rows - center, axis=1))
    if not dwarfs or apart > ROUNDING * np.abs(first.shift).max():
        return steps
    subtract = AffineMap(np.eye(len(center)), np.asarray(-center, np.float64))
    return [subtract, AffineMap(first.matrix, np.where(mapped, 0.0, first.shift)), *steps[1:]]


def _is_identity(step: AffineMap, width: int) -> bool:
    matrix = np.diag(step.matrix) if step.matrix.ndim == 1 else step.matrix
    return matrix.shape == (width, width) and not step.shift.any() and bool((matrix == np.eye(width)).all())
