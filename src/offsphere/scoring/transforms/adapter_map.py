"""A learned map for each side, as a transform like any other. Applying one needs no torch.

What a side's adapter does with a vector x, in this order: divide it by its length to the power ``input``, multiply it
with a matrix, and, where it has a magnitude head, give it a learned length. ``offsphere.adapt`` learns adapters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from offsphere.base.arrays import Array, Rows, Vectors
from offsphere.base.errors import ParameterError, VectorError
from offsphere.scoring.training_record import Training
from offsphere.scoring.transforms.maps import AffineMap, Side
from offsphere.scoring.transforms.transform import Transform
from offsphere.scoring.value_key import Arrays
from offsphere.vectors.lengths import lengths
from offsphere.vectors.moments import Moments

Combine = Literal["multiplied", "added"]


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

    def apply(self, given: Array, mapped: Array) -> Array:
        """Give the mapped vectors the lengths learned from the given ones."""
        given_lengths, mapped_lengths = _divisors(given), _divisors(mapped)
        head = (given @ self.weights) / given_lengths + self.log_length * np.log(given_lengths) + self.shift
        kept = mapped_lengths ** (1 - self.output)
        wanted = kept * np.exp(head) if self.combine == "multiplied" else np.maximum(kept + head, 0)
        return np.asarray(mapped * (wanted / mapped_lengths)[:, None])


@dataclass(frozen=True, slots=True, eq=False)
class SideAdapter:
    """What is done with the vectors of one side; without a matrix they stay as they are."""

    matrix: Array | None = None  # (dimension, output dimension)
    input: float = 0.0
    head: MagnitudeHead | None = None

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
        entered = given / (_divisors(given) ** self.input)[:, None] if self.input else given
        mapped = entered @ self.matrix if self.matrix is not None else entered
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
        """Make the side's adapter again from what ``arrays()`` gave."""
        head = None
        if "head.weights" in arrays:
            log_length, shift, output, added = arrays["head.numbers"].tolist()
            head = MagnitudeHead(arrays["head.weights"], log_length, shift, output, "added" if added else "multiplied")
        return cls(arrays.get("matrix"), float(arrays["input"][0]), head)


@dataclass(frozen=True, eq=False, repr=False)
class AdapterMap(Transform):
    """A learned map for each side: a transform, and at once the map it is fitted to, since nothing is left to fit."""

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
        return f"adapter({self.label})" if self.label else "adapter"

    def __repr__(self) -> str:
        """The name, not the arrays."""
        return f"AdapterMap({self.name})"

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
        return cls(query, document, config["label"])

    def fit(self, moments: Moments) -> AdapterMap:
        """Give the adapter itself: there is nothing to fit, only the dimension must be right."""
        for side in (self.query, self.document):
            if side.matrix is not None and len(side.matrix) != len(moments.mean):
                raise VectorError(
                    f"the adapter was trained on {len(side.matrix)} dimensions, the vectors have {len(moments.mean)}"
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

    def turned(self) -> AdapterMap:
        """Exchange what is done with queries and what is done with documents."""
        return replace(self, query=self.document, document=self.query)


def _divisors(rows: Array) -> Array:
    """Give the lengths of rows to divide by: one where a row has none."""
    row_lengths = lengths(rows)
    return np.where(row_lengths > 0, row_lengths, 1.0)
