"""What a similarity is: a formula in an inner product and two lengths, its ranking key, and helpers for formulas.

Every similarity gives its value when called, and a *ranking key* for search: a simpler number that puts one query's
documents in the same order. There are three forms of key (``Form``), each a kernel of the one-pass search. A key of the
affine form is an inner product in disguise, which is why those similarities can be served by any search engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.errors import ParameterError
from offsphere.scoring.part import Part

Range = tuple[float, float]
Agreement = Literal["query", "order", "value"]  # one query's order, the order of everything, the values themselves

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


class Similarity(Part):
    """What all similarities share: a name, checked parameters, and the value as formula and as ranking key.

    Call a similarity with inner products, query lengths and document lengths to get its values, elementwise; bigger is
    better.
    """

    formula: ClassVar[str]
    ranges: ClassVar[Mapping[str, Range]] = MappingProxyType({})
    form: ClassVar[Form] = Form.AFFINE
    nearest: ClassVar[str] = "cosine"  # what an engine can serve in place of one that does not lower
    has_offset: ClassVar[bool] = False  # the document adds something to its scaled inner product
    linear: ClassVar[bool] = False  # value = key / factor + a constant of the query, so a document bias adds to it

    def __post_init__(self) -> None:
        """Reject parameters for which the formula means nothing."""
        for name, value in self.parameters.items():
            low, high = self.ranges[name]
            if not (np.isfinite(value) and low <= value <= high):
                raise ParameterError(f"{self.kind}: {name} = {value} is not a finite number in [{low:g}, {high:g}]")

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters by name, as floating-point numbers."""
        return {name: float(value) for name, value in super().parameters.items()}

    def config(self) -> dict[str, Any]:
        """What it is, as plain values for a JSON file: the family and its parameters."""
        return {"family": self.kind, **super().config()}

    @property
    def lowers(self) -> bool:
        """Whether an inner product of two vectors, one made from each side, ranks the same."""
        return self.form is Form.AFFINE

    @property
    def gap_weight(self) -> float:
        """What a radian of angle counts in a ranking key of the gap form; nothing in the others."""
        return 0.0

    @property
    def divides_by_query(self) -> bool:
        """Whether a query of length zero has no value."""
        return bool(np.isneginf(self(np.zeros(1), np.zeros(1), np.ones(1))[0]))

    @property
    def orders_as(self) -> Similarity:
        """The simplest similarity that orders everything as this one does; itself where there is none simpler."""
        return self

    @property
    def ranks_as(self) -> tuple[object, ...]:
        """A key: two similarities with the same one rank every query's documents alike."""
        return self.pairs_as if self.orders_as == self else self.orders_as.ranks_as

    @property
    def pairs_as(self) -> tuple[object, ...]:
        """A key: two similarities with the same one order all pairs of vectors alike, whatever their queries."""
        simplest = self.orders_as
        return (simplest.kind, *simplest.parameters.values())

    def agreement_key(self, level: Agreement) -> tuple[object, ...]:
        """A key: two similarities with the same one cannot be told apart at this level.

        Args:
            level: what must be equal: the order of one ``query``'s documents, the ``order`` of all pairs of vectors, or
                the ``value`` itself.

        Returns:
            Something to be compared with the keys of others.
        """
        if level == "query":
            return self.ranks_as
        return self.pairs_as if level == "order" else (self.kind, *self.parameters.values())

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
        """Compute the value, elementwise; bigger is better.

        Args:
            dot: inner products of queries and documents.
            query_lengths: of the queries, of a shape that fits ``dot``.
            document_lengths: of the documents, of a shape that fits ``dot``.

        Returns:
            The values; minus infinity where they are not defined.
        """
        raise NotImplementedError

    def document_terms(self, lengths: Array) -> Terms:
        """Compute what documents of these lengths give to the ranking key.

        Args:
            lengths: (documents,).

        Returns:
            A weight and an offset a document; an offset of minus infinity for one that ranks last.
        """
        raise NotImplementedError

    def query_factor(self, lengths: Array) -> Array:
        """Compute what queries of these lengths give to the ranking key.

        Args:
            lengths: (queries,).

        Returns:
            A factor a query, by which the offsets of documents count.
        """
        raise NotImplementedError

    def value_of_key(self, keys: Array, query_lengths: Array) -> Array:
        """Compute the value from a ranking key of the affine form, which is what an engine's score comes from.

        Args:
            keys: ``dot * weight + factor * offset`` of queries and documents.
            query_lengths: of the queries, of a shape that fits the keys.

        Returns:
            The values, of the shape of the keys.
        """
        if not self.linear:
            raise NotImplementedError
        return keys / self.query_factor(query_lengths)


def power(lengths: Array, exponent: float) -> Array:
    """Compute ``lengths ** exponent`` with ``0 ** 0 = 1`` and no warning for ``0 ** -1 = inf``."""
    if exponent == 0:
        return np.ones_like(lengths)
    with np.errstate(divide="ignore"):
        return lengths if exponent == 1 else lengths**exponent


def angle(dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
    """Compute the angle in radians; not a number where a length is zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.arccos(np.clip(dot / (query_lengths * document_lengths), -1, 1))


def scaling_terms(weight: Array) -> Terms:
    """Give the terms of a similarity that only scales documents; an infinite weight marks one that ranks last."""
    defined = np.isfinite(weight)
    return Terms(np.where(defined, weight, 0.0), np.where(defined, 0.0, -np.inf))


def undefined_last(value: Array) -> Array:
    """Replace what is no number by minus infinity, so that it ranks last."""
    return np.where(np.isnan(value), -np.inf, value)
