"""A learned map for each side, as a transform like any other. Applying one needs no torch.

What a side's adapter does with a vector x, in this order: divide it by its length to the power ``input``, multiply it
with a matrix, and, where it has a magnitude head, give it a learned length. ``offsphere.adapt`` learns adapters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from offsphere.base.arrays import Array, Arrays, Rows, Vectors
from offsphere.base.errors import DataError, ParameterError, VectorError
from offsphere.base.short_repr import short_repr
from offsphere.base.shown_ids import shown_id
from offsphere.scoring.scorer_files import numbers_of
from offsphere.scoring.training_record import Training
from offsphere.scoring.transforms.maps import AffineMap, Side
from offsphere.scoring.transforms.transform import Transform
from offsphere.vectors.lengths import lengths
from offsphere.vectors.mapped_rows import mapped_rows
from offsphere.vectors.moments import Moments

Combine = Literal["multiplied", "added"]
HEAD_NUMBERS = 4  # besides its weights


@dataclass(frozen=True, slots=True, eq=False)
class MagnitudeHead:
    """A length learned from the input: ``h = direction . weights + log_length ln|x| + shift``.

    The scored vector is ``y / |y| ** output`` times ``exp(h)`` (multiplied), or the direction of y times its length so
    far plus h (added; never below zero). With all weights zero neither changes anything.
    """

    weights: Array  # (dimension,)
    log_length: float
    shift: float
    output: float  # by which power of its length the mapped vector is divided before
    combine: Combine = "multiplied"

    __repr__ = short_repr

    def apply(self, given: Array, mapped: Vectors) -> Array:
        """Give the mapped vectors the lengths learned from the given ones."""
        given_lengths, mapped_lengths = _divisors(given), _divisors(mapped)
        pointing = mapped_rows(given, self.weights[:, None])[:, 0]
        head = pointing / given_lengths + self.log_length * np.log(given_lengths) + self.shift
        kept = mapped_lengths ** (1 - self.output)
        wanted = kept * np.exp(head) if self.combine == "multiplied" else np.maximum(kept + head, 0)
        return np.asarray(mapped * (wanted / mapped_lengths)[:, None])


@dataclass(frozen=True, slots=True, eq=False)
class SideAdapter:
    """What is done with the vectors of one side; without a matrix they stay as they are."""

    matrix: Array | None = None  # (dimension, output dimension)
    input: float = 0.0
    head: MagnitudeHead | None = None

    __repr__ = short_repr

    def apply(self, vectors: Vectors) -> Rows:
        """Map rows in float64 and keep them in float32."""
        if vectors.ndim != 2:  # noqa: PLR2004
            raise VectorError(f"vectors of shape {vectors.shape}: give rows, for one vector x write x[None]")
        if self.matrix is not None and vectors.shape[1] != len(self.matrix):
            raise VectorError(
                f"vectors have {vectors.shape[1]} dimensions, the adapter was trained on {len(self.matrix)}: "
                "use vectors of the model it was trained on"
            )
        given = np.asarray(vectors, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):  # who scores the vectors refuses what is not finite
            entered = given / (_divisors(given) ** self.input)[:, None] if self.input else given
            mapped = mapped_rows(entered, self.matrix) if self.matrix is not None else entered
            if self.head is not None:
                mapped = self.head.apply(given, mapped)
            return mapped.astype(np.float32)

    def arrays(self) -> dict[str, Array]:
        """Give its numbers by name."""
        arrays = {"input": np.array([self.input])}
        if self.matrix is not None:
            arrays["matrix"] = self.matrix
        if self.head is not None:
            head = self.head
            arrays["head.weights"] = head.weights
            rest = [head.log_length, head.shift, head.output, float(head.combine == "added")]
            arrays["head.numbers"] = np.array(rest)
        return arrays

    @classmethod
    def of(cls, arrays: Mapping[str, Array]) -> SideAdapter:
        """Make the side's adapter again from what ``arrays()`` gave.

        Raises:
            DataError: where an array is missing, not finite, or of a shape that does not fit the others.
        """
        matrix = numbers_of(arrays, "matrix", 2) if "matrix" in arrays else None
        head = None
        if "head.weights" in arrays or "head.numbers" in arrays:
            weights, numbers = numbers_of(arrays, "head.weights", 1), numbers_of(arrays, "head.numbers", 1)
            if len(numbers) != HEAD_NUMBERS or (matrix is not None and len(weights) != len(matrix)):
                raise DataError("the head of an adapter has not as many numbers as the vectors that it is for")
            log_length, shift, output, added = numbers.tolist()
            head = MagnitudeHead(weights, log_length, shift, output, "added" if added else "multiplied")
        return cls(matrix, float(numbers_of(arrays, "input", 1)[0]), head)

    @property
    def changes(self) -> bool:
        """Whether anything is done at all."""
        return self.matrix is not None or self.input != 0 or self.head is not None

    @property
    def widths(self) -> tuple[int, int] | None:
        """How many numbers a vector has before and after; nothing where any number will do."""
        if self.matrix is not None:
            return self.matrix.shape[0], self.matrix.shape[1]
        return (len(self.head.weights),) * 2 if self.head is not None else None


@dataclass(frozen=True, eq=False, repr=False)
class AdapterMap(Transform):
    """A learned map for each side: a transform, and at once the map it is fitted to, since nothing is left to fit.

    The two sides may come in two widths, of two models; they leave in one.
    """

    query: SideAdapter
    document: SideAdapter
    label: str = ""  # what tells it from other adapters
    record: Training | None = None

    kind = "adapter"
    phrase = "apply what was learned"
    by_name = False
    affine = False

    @property
    def name(self) -> str:
        """The name with what tells it from other adapters."""
        return f"adapter({shown_id(self.label)})" if self.label else "adapter"

    def __repr__(self) -> str:
        """The name, not the arrays."""
        return f"AdapterMap({self.name})"

    def changes(self, side: Side) -> bool:
        """Whether the vectors of a side are mapped, or stay as they are."""
        return (self.query if side == "query" else self.document).changes

    def config(self) -> dict[str, Any]:
        """Describe it as plain values for a JSON file: its kind and its label, since the maps are arrays."""
        return {"kind": self.kind, "label": self.label}

    def arrays(self) -> Arrays:
        """Give the numbers of both sides by name."""
        sides = {"query": self.query.arrays(), "document": self.document.arrays()}
        return {f"{side}.{name}": array for side, arrays in sides.items() for name, array in arrays.items()}

    @classmethod
    def of(cls, config: Mapping[str, Any], arrays: Mapping[str, Any]) -> AdapterMap:
        """Make the adapter again from what ``config()`` and ``arrays()`` gave."""
        query, document = (
            SideAdapter.of({name.removeprefix(start): a for name, a in arrays.items() if name.startswith(start)})
            for start in ("query.", "document.")
        )
        if not isinstance(config["label"], str):
            raise DataError(f"the label of an adapter is {config['label']!r}, which is no text")
        if query.widths and document.widths and query.widths[1] != document.widths[1]:
            raise DataError(f"an adapter maps queries {query.widths} and documents {document.widths}: not one space")
        return cls(query, document, config["label"])

    @property
    def widths(self) -> tuple[int, int] | None:
        """How many numbers a document has before and after; nothing where any number will do.

        Documents that stay as they are have the width that queries are brought to.
        """
        if self.document.widths is not None or self.query.widths is None:
            return self.document.widths
        return self.query.widths[1], self.query.widths[1]

    @property
    def takes(self) -> tuple[int, ...]:
        """How many numbers a vector has before the map, on each side that is mapped."""
        return tuple(side.widths[0] for side in (self.query, self.document) if side.widths is not None)

    def fit(self, moments: Moments) -> AdapterMap:
        """Give the adapter itself: there is nothing to fit, only the dimension of documents must be right."""
        if self.widths is not None and self.widths[0] != len(moments.mean):
            raise VectorError(
                f"the adapter was trained on {self.widths[0]} dimensions, the vectors have {len(moments.mean)}"
            )
        return self

    def apply(self, vectors: Vectors, side: Side = "document") -> Rows:
        """Map the vectors of a side."""
        if side not in ("query", "document"):
            raise ParameterError(f"side {side!r}: say 'query' or 'document'")
        return (self.query if side == "query" else self.document).apply(vectors)

    def moments(self, moments: Moments) -> Moments:
        """Give the moments of the mapped documents, where the map is linear."""
        if self.document.input or self.document.head is not None:
            raise ParameterError(
                "no transform can be fitted after an adapter that changes lengths: put it before the adapter, or "
                "compare the adapted vectors themselves (adapter.apply)"
            )
        if self.document.matrix is None:
            return moments
        return AffineMap(self.document.matrix, np.zeros(self.document.matrix.shape[1])).moments(moments)


def _divisors(rows: Vectors) -> Array:
    """Give the lengths of rows to divide by: one where a row has none."""
    row_lengths = lengths(rows)
    return np.where(row_lengths > 0, row_lengths, 1.0)
