"""An adapter: a small learned map for each side, as a transform like any other. Applying one needs no torch.

What a side's adapter does with a vector x, in this order: divide it by its length to the power ``input``, multiply it
with a matrix, and, where it has a magnitude head, give it a learned length. ``offsphere.adapt`` learns adapters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from offsphere.base.arrays import Array, Rows, Vectors
from offsphere.base.errors import ParameterError, VectorError
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE, Similarity
from offsphere.scoring.transforms import AffineMap, Side
from offsphere.vectors.lengths import lengths
from offsphere.vectors.moments import Moments

if TYPE_CHECKING:
    from offsphere.scoring.record import Training

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
        own, out = _lengths(given), _lengths(mapped)
        found = (given @ self.weights) / own + self.log_length * np.log(own) + self.shift
        kept = out ** (1 - self.output)
        wanted = kept * np.exp(found) if self.combine == "multiplied" else np.maximum(kept + found, 0)
        return np.asarray(mapped * (wanted / out)[:, None])


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
        entered = given / (_lengths(given) ** self.input)[:, None] if self.input else given
        mapped = entered @ self.matrix if self.matrix is not None else entered
        if self.head is not None:
            mapped = self.head.apply(given, mapped)
        return mapped.astype(np.float32)

    def arrays(self) -> dict[str, Array]:
        """Its numbers by name, for a file."""
        found = {"input": np.array([self.input])}
        if self.matrix is not None:
            found["matrix"] = self.matrix
        if self.head is not None:
            head = self.head
            found["head.weights"] = head.weights
            rest = [head.log_length, head.shift, head.output, float(head.combine == "added")]
            found["head.numbers"] = np.array(rest)
        return found

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Array]) -> SideAdapter:
        """From the numbers in a file."""
        head = None
        if "head.weights" in arrays:
            log_length, shift, output, added = arrays["head.numbers"].tolist()
            head = MagnitudeHead(arrays["head.weights"], log_length, shift, output, "added" if added else "multiplied")
        return cls(arrays.get("matrix"), float(arrays["input"][0]), head)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Adapter:
    """A map for each side, the similarity it was trained for, and how the training went."""

    query: SideAdapter
    document: SideAdapter
    similarity: Similarity = COSINE
    label: str = ""
    record: Training | None = field(default=None)

    @property
    def name(self) -> str:
        """The name with what tells it from other adapters."""
        return f"adapter({self.label})" if self.label else "adapter"

    @property
    def scorer(self) -> Scorer:
        """The scorer it was trained as: this map, then its similarity."""
        return Scorer(self.similarity, (self,), map=self)

    @property
    def symmetric(self) -> bool:
        """Whether a score does not depend on which of two vectors is the query."""
        one, other = self.query.arrays(), self.document.arrays()
        powers = self.similarity.parameters
        alike = powers.get("query") == powers.get("document")
        return alike and one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)

    def __repr__(self) -> str:
        """The scorer, and what it is worth."""
        return f"Adapter({self.scorer.name}{f', {self.record}' if self.record is not None else ''})"

    def fit(self, moments: Moments) -> Adapter:
        """Nothing to fit; only the dimension must be right."""
        for side in (self.query, self.document):
            if side.matrix is not None and len(side.matrix) != len(moments.mean):
                raise VectorError(
                    f"the adapter was trained on {len(side.matrix)} dimensions, the vectors have {len(moments.mean)}"
                )
        return self

    def apply(self, vectors: Vectors, side: Side = "document") -> Rows:
        """What it makes of vectors of a side."""
        if side not in ("query", "document"):
            raise ParameterError(f"side {side!r}: say 'query' or 'document'")
        return (self.query if side == "query" else self.document).apply(vectors)

    def moments(self, moments: Moments) -> Moments:
        """The moments of the mapped documents, where the map is linear."""
        if self.document.input or self.document.head is not None:
            raise ParameterError(
                "no transform can be fitted after an adapter that changes lengths: put it before the adapter, or "
                "compare the adapted vectors themselves (adapter.apply)"
            )
        if self.document.matrix is None:
            return moments
        return AffineMap(self.document.matrix, np.zeros(self.document.matrix.shape[1])).moments(moments)

    def turned(self) -> Adapter:
        """With the sides exchanged."""
        return replace(self, query=self.document, document=self.query)

    def arrays(self) -> dict[str, Array]:
        """Its numbers by name, for a file."""
        both = {"query": self.query.arrays(), "document": self.document.arrays()}
        return {f"{side}.{name}": array for side, part in both.items() for name, array in part.items()}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Array], similarity: Similarity, label: str) -> Adapter:
        """From the numbers in a file."""
        query, document = (
            SideAdapter.of_arrays({name.removeprefix(start): a for name, a in arrays.items() if name.startswith(start)})
            for start in ("query.", "document.")
        )
        return cls(query, document, similarity, label)

    def save(self, folder: str | Path) -> None:
        """Write it as a scorer, with the record of its training beside."""
        if self.record is not None:
            self.record.save(Path(folder))
        self.scorer.save(folder)

    @classmethod
    def load(cls, folder: str | Path) -> Adapter:
        """Read a saved adapter and, where it is there, its record. Nothing in the files is executed."""
        from offsphere.scoring.record import Training

        found = next((part for part in Scorer.load(folder).transforms if isinstance(part, Adapter)), None)
        if found is None:
            raise ParameterError(f"{folder} holds a scorer without an adapter: load it with Scorer.load")
        return replace(found, record=Training.load(Path(folder)))


def _lengths(rows: Array) -> Array:
    """Lengths to divide by: one where there is none."""
    own = lengths(rows)
    return np.where(own > 0, own, 1.0)
