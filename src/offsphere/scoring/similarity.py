"""Similarities: formulas in an inner product and the two lengths. Bigger is better.

Every similarity gives its value when called, and a *ranking key* for search: a simpler number that puts one query's
documents in the same order. There are three forms of key (``Form``), each a kernel of the one-pass search. A key of the
affine form is an inner product in disguise, which is why those similarities can be served by any search engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import IntEnum
from types import MappingProxyType
from typing import ClassVar, NamedTuple

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.errors import ParameterError

Range = tuple[float, float]

UNBOUNDED: Range = (-np.inf, np.inf)
POSITIVE: Range = (0.0, np.inf)


class Form(IntEnum):
    """How the ranking key is put together from ``dot``, what the document gives and what the query gives."""

    AFFINE = 0  # dot * weight + factor * offset
    RATIO = 1  # dot / (factor + offset)
    GAP = 2  # -(|factor - offset| + gap * arccos(dot * weight / factor))


class Terms(NamedTuple):
    """What a document contributes to the ranking key. An offset of minus infinity ranks it last."""

    weight: Array
    offset: Array


class Similarity:
    """What all similarities share: a name, checked parameters, and the value as formula and as ranking key."""

    __slots__ = ()

    label: ClassVar[str]
    formula: ClassVar[str]
    ranges: ClassVar[Mapping[str, Range]] = MappingProxyType({})
    form: ClassVar[Form] = Form.AFFINE
    has_offset: ClassVar[bool] = False  # the document adds something to its scaled inner product
    linear: ClassVar[bool] = False  # value = key / factor + a constant of the query, so a document bias adds to it

    def __post_init__(self) -> None:
        """Reject parameters for which the formula means nothing."""
        for name, value in self.parameters.items():
            low, high = self.ranges[name]
            if not (np.isfinite(value) and low <= value <= high):
                raise ParameterError(f"{self.label}: {name} = {value} is not a finite number in [{low:g}, {high:g}]")

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters by name."""
        return {field.name: float(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]

    @property
    def name(self) -> str:
        """The name with its parameters, as ``offsphere.parse_scorer`` reads it."""
        if not self.parameters:
            return self.label
        return f"{self.label}({', '.join(written(value) for value in self.parameters.values())})"

    @property
    def lowers(self) -> bool:
        """Whether an inner product of two vectors, one made from each side, ranks the same."""
        return self.form is Form.AFFINE

    @property
    def divides_by_document(self) -> bool:
        """Whether a document of length zero has no value; it then ranks last."""
        return bool(np.isneginf(self.document_terms(np.zeros(1)).offset[0]))

    @property
    def divides_by_query(self) -> bool:
        """Whether a query of length zero has no value."""
        return bool(np.isneginf(self(np.zeros(1), np.zeros(1), np.ones(1))[0]))

    @property
    def is_cosine(self) -> bool:
        """Whether it orders everything as cosine does."""
        return False

    @property
    def ranks_as(self) -> tuple[object, ...]:
        """Two similarities for which this is equal rank every query's documents alike."""
        return COSINE.ranks_as if self.is_cosine else (self.label, *self.parameters.values())

    @property
    def pairs_as(self) -> tuple[object, ...]:
        """Two similarities for which this is equal order all pairs of vectors alike, whatever their queries."""
        return COSINE.pairs_as if self.is_cosine else (self.label, *self.parameters.values())

    def alike(self, level: str) -> tuple[object, ...]:
        """Equal for two similarities that agree on one ``query``'s order, on all ``order``, or in ``value``."""
        if level == "query":
            return self.ranks_as
        return self.pairs_as if level == "order" else (self.label, *self.parameters.values())

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
        """The value, elementwise; minus infinity where it is not defined."""
        raise NotImplementedError

    def document_terms(self, lengths: Array) -> Terms:
        """What the documents give to the ranking key."""
        raise NotImplementedError

    def query_factor(self, lengths: Array) -> Array:
        """What the queries give to the ranking key."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Polar(Similarity):
    """``dot / (|q| ** query * |d| ** document)``: the normalisation grid, all between its corners, and beyond.

    ``Polar(1, 1)`` is cosine, ``Polar(0, 0)`` the dot product, ``Polar(1, 0)`` normalises the query only. A document
    exponent below 0 rewards length, one above 1 punishes it. A ranking depends on ``document`` alone, since a query's
    own length is the same for all of its documents (Feng & Watanabe 2026, arXiv:2602.09229).
    """

    query: float = 1.0
    document: float = 1.0

    label = "polar"
    formula = "dot / (|q|^query |d|^document)"
    ranges = MappingProxyType({"query": UNBOUNDED, "document": UNBOUNDED})
    linear = True

    @property
    def name(self) -> str:
        """The corner's name where the point is a named one."""
        return CORNERS.get((self.query, self.document)) or f"polar({written(self.query)}, {written(self.document)})"

    @property
    def ranks_as(self) -> tuple[object, ...]:
        """The query's exponent cannot move a document."""
        return ("polar", self.document)

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
        """Divide by the powers of both lengths."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return _or_last(dot / _power(query_lengths, self.query) / _power(document_lengths, self.document))

    def document_terms(self, lengths: Array) -> Terms:
        """Scale each document once."""
        return _scaled(_power(lengths, -self.document))

    def query_factor(self, lengths: Array) -> Array:
        """``value = key / |q| ** query``."""
        return _power(lengths, self.query)


@dataclass(frozen=True, slots=True)
class Euclidean(Similarity):
    """``-|q - d|``: the negated distance; ranks as ``dot - |d|^2 / 2``."""

    label = "euclidean"
    formula = "-sqrt(|q|^2 + |d|^2 - 2 dot)"
    has_offset = True

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
        """The law of cosines; rounding below zero counts as zero."""
        return -np.sqrt(np.maximum(query_lengths**2 + document_lengths**2 - 2 * dot, 0))

    def document_terms(self, lengths: Array) -> Terms:
        """Half the squared length is all a document adds."""
        return Terms(np.ones_like(lengths), -(lengths**2) / 2)

    def query_factor(self, lengths: Array) -> Array:
        """The query adds nothing that moves a document."""
        return np.ones_like(lengths)


@dataclass(frozen=True, slots=True)
class Angular(Similarity):
    """``-arccos(cosine)``: the negated angle in radians; ranks as cosine."""

    label = "angular"
    formula = "-arccos(dot / (|q| |d|))"

    @property
    def is_cosine(self) -> bool:
        """The angle falls as cosine rises."""
        return True

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
        """The angle, negated."""
        return _or_last(-_angle(dot, query_lengths, document_lengths))

    def document_terms(self, lengths: Array) -> Terms:
        """As cosine."""
        return COSINE.document_terms(lengths)

    def query_factor(self, lengths: Array) -> Array:
        """As cosine."""
        return lengths


@dataclass(frozen=True, slots=True)
class NormMix(Similarity):
    """``alpha * cosine + (1 - alpha) (|q| + |d|)``: direction and length, added (You 2025, arXiv:2504.16318)."""

    alpha: float = 0.5

    label = "norm-mix"
    formula = "alpha cosine + (1 - alpha)(|q| + |d|)"
    ranges = MappingProxyType({"alpha": (0.0, 1.0)})
    has_offset = True
    linear = True

    @property
    def is_cosine(self) -> bool:
        """Nothing but cosine is cosine."""
        return self.alpha == 1

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
        """Mix the cosine with the two lengths."""
        cosine = COSINE(dot, query_lengths, document_lengths)
        with np.errstate(invalid="ignore"):
            return _or_last(self.alpha * cosine + (1 - self.alpha) * (query_lengths + document_lengths))

    def document_terms(self, lengths: Array) -> Terms:
        """A scaled direction, and the length as an offset."""
        scaled = COSINE.document_terms(lengths)
        return Terms(self.alpha * scaled.weight, scaled.offset + (1 - self.alpha) * lengths)

    def query_factor(self, lengths: Array) -> Array:
        """``value = key / |q| + (1 - alpha) |q|``."""
        return lengths


@dataclass(frozen=True, slots=True)
class NormGap(Similarity):
    """``-(||q| - |d|| + weight * angle)``: a distance of lengths plus a distance of directions (You 2025)."""

    weight: float = 1.0

    label = "norm-gap"
    formula = "-(| |q| - |d| | + weight arccos(cosine))"
    ranges = MappingProxyType({"weight": POSITIVE})
    form = Form.GAP

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
        """Both distances, negated."""
        angle = _angle(dot, query_lengths, document_lengths)
        return _or_last(-(np.abs(query_lengths - document_lengths) + self.weight * angle))

    def document_terms(self, lengths: Array) -> Terms:
        """The inverse length for the angle, the length for the gap."""
        scaled = COSINE.document_terms(lengths)
        return Terms(scaled.weight, np.where(lengths > 0, lengths, -np.inf))

    def query_factor(self, lengths: Array) -> Array:
        """The length the document's is held against."""
        return lengths


@dataclass(frozen=True, slots=True)
class Overlap(Similarity):
    """``dot / (|q|^2 + |d|^2 - |dot|)``: the continuous Jaccard overlap (arXiv:2509.19323).

    With ``x = dot / (|q|^2 + |d|^2)`` it is ``x / (1 - |x|)``, which rises with x: it ranks as Tanh does. On unit
    vectors it is a relabelling of cosine.
    """

    label = "overlap"
    formula = "dot / (|q|^2 + |d|^2 - |dot|)"
    form = Form.RATIO

    @property
    def ranks_as(self) -> tuple[object, ...]:
        """Every increasing function of ``dot / (|q|^2 + |d|^2)`` ranks alike."""
        return ("ratio",)

    @property
    def pairs_as(self) -> tuple[object, ...]:
        """Every increasing function of ``dot / (|q|^2 + |d|^2)`` orders pairs alike."""
        return ("ratio",)

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
        """What the two share over what they span."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return _or_last(dot / (query_lengths**2 + document_lengths**2 - np.abs(dot)))

    def document_terms(self, lengths: Array) -> Terms:
        """The squared length."""
        return Terms(np.ones_like(lengths), lengths**2)

    def query_factor(self, lengths: Array) -> Array:
        """The squared length."""
        return lengths**2


@dataclass(frozen=True, slots=True)
class Tanh(Overlap):
    """``tanh(2 dot / (|q|^2 + |d|^2))`` (arXiv:2509.19323); ranks as Overlap."""

    label = "tanh"
    formula = "tanh(2 dot / (|q|^2 + |d|^2))"

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
        """Squash the ratio."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return _or_last(np.tanh(2 * dot / (query_lengths**2 + document_lengths**2)))


@dataclass(frozen=True, slots=True)
class RadialConfidence(Similarity):
    """``cosine * |d| / (|d| + half)``: cosine, trusted more the longer the document, with diminishing returns.

    ``half`` is the length at which the confidence is one half: 0 is cosine, and a very large one ranks as the dot
    product. The idea of weighting the angle by a confidence of the length is You's (2025); this weight is ours.
    """

    half: float = 1.0

    label = "radial-confidence"
    formula = "cosine |d| / (|d| + half)"
    ranges = MappingProxyType({"half": POSITIVE})
    linear = True

    @property
    def is_cosine(self) -> bool:
        """Full confidence is cosine."""
        return self.half == 0

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
        """Cosine times the saturating confidence."""
        with np.errstate(divide="ignore", invalid="ignore"):
            cosine = dot / (query_lengths * document_lengths)
            return _or_last(cosine * document_lengths / (document_lengths + self.half))

    def document_terms(self, lengths: Array) -> Terms:
        """``1/|d| * |d| / (|d| + half)``."""
        with np.errstate(divide="ignore"):
            weight = 1 / (lengths + self.half)
        return _scaled(np.where(lengths > 0, weight, np.inf))

    def query_factor(self, lengths: Array) -> Array:
        """As cosine."""
        return lengths


CORNERS: Mapping[tuple[float, float], str] = MappingProxyType(
    {
        (1.0, 1.0): "cosine",
        (0.0, 0.0): "dot",
        (1.0, 0.0): "query-normalized",
        (0.0, 1.0): "document-normalized",
        (0.5, 0.5): "half",
    }
)

COSINE = Polar(1.0, 1.0)
DOT = Polar(0.0, 0.0)

FAMILIES: Mapping[str, Callable[..., Similarity]] = MappingProxyType(
    {family.label: family for family in (Polar, Euclidean, Angular, NormMix, NormGap, Overlap, Tanh, RadialConfidence)}
)


def written(value: float) -> str:
    """A number as short as reads back the same, without the plus sign that joins a scorer's parts."""
    return repr(float(value)).removesuffix(".0").replace("e+", "e")


def _power(lengths: Array, exponent: float) -> Array:
    """``lengths ** exponent`` with ``0 ** 0 = 1`` and no warning for ``0 ** -1 = inf``."""
    if exponent == 0:
        return np.ones_like(lengths)
    with np.errstate(divide="ignore"):
        return lengths if exponent == 1 else lengths**exponent


def _angle(dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
    """The angle in radians; not a number where a length is zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.arccos(np.clip(dot / (query_lengths * document_lengths), -1, 1))


def _scaled(weight: Array) -> Terms:
    """Terms of a similarity that only scales documents; an infinite weight marks a document that ranks last."""
    defined = np.isfinite(weight)
    return Terms(np.where(defined, weight, 0.0), np.where(defined, 0.0, -np.inf))


def _or_last(value: Array) -> Array:
    """Undefined values rank last."""
    return np.where(np.isnan(value), -np.inf, value)
