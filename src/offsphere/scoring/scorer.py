"""A scorer: transforms, then a similarity, plus an optional document bias. What one measures is what one deploys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from offsphere.base.arrays import Array, Rows, Vectors
from offsphere.base.errors import OffsphereError, VectorError
from offsphere.scoring.similarity import COSINE, Polar, Similarity
from offsphere.scoring.transforms import FittedMap, Side, Transform, fit_chain
from offsphere.vectors.lengths import lengths
from offsphere.vectors.moments import Moments

if TYPE_CHECKING:
    from offsphere.scoring.lowering import Lowering
    from offsphere.scoring.standardization import QueryStandardization


@dataclass(frozen=True, slots=True, eq=False)
class DocumentBias:
    """A number added to each document's similarity, in the documents' order."""

    name: str
    values: Array  # (documents,)


@dataclass(frozen=True, slots=True, eq=False)
class Scorer:
    """Transforms, a similarity, and an optional bias. ``fit`` it on documents where it has transforms."""

    similarity: Similarity = COSINE
    transforms: tuple[Transform, ...] = ()
    bias: DocumentBias | None = None
    map: FittedMap | None = None  # the fitted transforms, as one
    standardization: QueryStandardization | None = None  # makes scores of different queries comparable

    def __post_init__(self) -> None:
        """A bias or a standardisation needs a value that is linear in the inner product."""
        if (self.bias is not None or self.standardization is not None) and not self.similarity.linear:
            raise OffsphereError(
                f"{self.similarity.name} takes neither a document bias nor a query standardisation, since it is not "
                "linear in the inner product: use polar (cosine, dot, ...), norm-mix or radial-confidence"
            )

    @property
    def name(self) -> str:
        """Transforms, similarity, bias and calibration, joined by plus signs."""
        parts = [*(transform.name for transform in self.transforms), self.similarity.name]
        parts += [self.bias.name] if self.bias is not None else []
        parts += ["z-score"] if self.standardization is not None else []
        return " + ".join(parts)

    @property
    def identity(self) -> bytes:
        """What tells it from every other scorer that is fitted on the same documents: the name and given numbers."""
        given: list[dict[str, Array]] = [getattr(transform, "arrays", dict)() for transform in self.transforms]
        return b"".join([self.name.encode(), *(array.tobytes() for part in given for array in part.values())])

    @property
    def is_plain(self) -> bool:
        """Whether it is transforms and a similarity alone, without what is made from queries or corpus."""
        return self.bias is None and self.standardization is None

    def fit(self, moments: Moments) -> Scorer:
        """The same scorer with its transforms fitted on documents of these moments."""
        return replace(self, map=fit_chain(self.transforms, moments))

    def turned(self) -> Scorer:
        """The scorer of documents that look for queries: the sides exchanged, without what is made for one side."""
        if not isinstance(self.similarity, Polar):
            raise OffsphereError(
                f"only cosine, dot and all of the polar family can be turned, not {self.similarity.name}"
            )
        return Scorer(
            Polar(self.similarity.document, self.similarity.query),
            self.transforms,
            map=self.map.turned() if self.map is not None else None,
        )

    def transform(self, vectors: Vectors, side: Side = "document") -> Rows:
        """What the transforms make of vectors of a side."""
        if np.ndim(vectors) != 2:  # noqa: PLR2004
            raise VectorError(f"vectors of shape {np.shape(vectors)}: give rows, for one vector x write x[None]")
        if not self.transforms:
            return np.asarray(vectors, dtype=np.float32)
        if self.map is None:
            raise OffsphereError(f"{self.name!r} has transforms that were never fitted: call its fit(moments) first")
        return self.map.apply(vectors, side)

    def score_pairs(self, left: Vectors, right: Vectors) -> Array:
        """The value of each row of ``left`` with the same row of ``right``; minus infinity where it is not defined."""
        if not self.is_plain:
            raise OffsphereError("a document bias or a query standardisation has no meaning for pairs")
        if left.shape != right.shape:
            raise VectorError(f"left vectors are {left.shape}, right vectors {right.shape}: pairs need two of a shape")
        one, other = self.transform(left, "query"), self.transform(right)
        dot = np.einsum("nd,nd->n", one, other, dtype=np.float64)
        return self.similarity(dot, lengths(one), lengths(other))

    def lower(self) -> Lowering:
        """The two maps, one a side, whose plain inner product ranks as this scorer does.

        Raises ``NotLowerableError`` where there are none.
        """
        from offsphere.scoring.lowering import Lowering

        return Lowering(self)

    def save(self, folder: str | Path) -> None:
        """Write the scorer as JSON and safetensors."""
        from offsphere.scoring.scorer_files import save_scorer

        save_scorer(self, Path(folder))

    @classmethod
    def load(cls, folder: str | Path) -> Scorer:
        """Read a saved scorer. Nothing in the files is executed."""
        from offsphere.scoring.scorer_files import load_scorer

        return load_scorer(Path(folder))
