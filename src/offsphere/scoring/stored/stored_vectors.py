"""A scorer on stored vectors: what an engine would hold of each document, searched exactly.

What is stored is what an engine is given: the *lowered* vector (``Scorer.lower``), in which lengths are divided out
already and whose plain inner product is searched. So cosine stored as int8 is the code of the normalised vector.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from offsphere.base.arrays import Arrays, Rows, Vectors
from offsphere.base.errors import OffsphereError, ParameterError
from offsphere.scoring.lowering import Lowering
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import DOT, Polar
from offsphere.scoring.stored.codes import CODES, Code, Float32
from offsphere.scoring.stored.indexed_dot import IndexedDot
from offsphere.scoring.stored.stored_form import StoredForm
from offsphere.scoring.transforms import Side, Transform
from offsphere.vectors.blocks import Blocks, Documents
from offsphere.vectors.moments import Moments


class NotStorableError(OffsphereError):
    """A scorer that has no such stored form: the message says why."""


@dataclass(frozen=True, eq=False, repr=False)
class StoredVectors(Transform):
    """What is read back from stored documents, and what they are asked with: a transform that nothing is left to fit.

    ``store`` makes it.
    """

    scorer: Scorer  # fitted, on cut vectors where the form cuts them before
    form: StoredForm
    code: Code

    kind = "stored"
    by_name = False
    affine = False

    @property
    def name(self) -> str:
        """The scorer and the form."""
        return f"{self.scorer.name}, stored as {self.form.name}"

    def __repr__(self) -> str:
        """The name, not the arrays."""
        return f"StoredVectors({self.name})"

    def config(self) -> dict[str, Any]:
        """Describe it by its scorer's key and its form."""
        return {"kind": self.kind, "scorer": self.scorer.key, "form": self.form.name}

    def arrays(self) -> Arrays:
        """Give the numbers of the code."""
        return self.code.arrays()

    def fit(self, moments: Moments) -> StoredVectors:  # noqa: ARG002
        """Give itself: ``store`` has fitted it."""
        return self

    def apply(self, vectors: Vectors, side: Side = "document") -> Rows:
        """Give the vectors to ask with, or what is read back of the documents; zeros for one that has no place."""
        rows = self.lowered(vectors, side)
        if side == "query":
            bits = self.form.code == "binary" and not self.form.float_query
            return self.code.decoded(rows) if bits else rows
        decoded = self.code.decoded(rows)
        return decoded if _all_are_rankable(self.scorer) else decoded * rows.any(axis=1, keepdims=True)

    def lowered(self, vectors: Vectors, side: Side = "document") -> Rows:
        """Make the vectors that are stored or asked with, before any code."""
        width, sliced = self.form.dimensions, self.form.sliced
        given = vectors if width is None or sliced else vectors[:, :width]
        lowering = self.scorer.lower()
        rows = lowering.queries(given) if side == "query" else lowering.documents(given)
        return rows if width is None or not sliced else _sliced(rows, width, lowering)

    def moments(self, moments: Moments) -> NoReturn:  # noqa: ARG002
        """Refuse: nothing is fitted on what is read back."""
        raise ParameterError(f"no transform can be fitted behind {self.name}: put it before")


def store(
    scorer: Scorer, form: StoredForm, documents: Documents | Blocks, moments: Moments, *, by_query: bool = True
) -> Scorer:
    """Make the scorer that searches the stored form of documents exactly; where a code has ranges, in one pass.

    Args:
        scorer: fitted on these documents where it has transforms.
        form: what is stored. Re-ranking is no part of it: this is the step that finds what is re-ranked.
        documents: what is stored, as the model gave it.
        moments: of what transforms are fitted on, to fit them again where vectors are cut.
        by_query: whether only the order of one query's documents counts, not how scores compare between queries.

    Returns:
        A scorer for the model's own vectors, of both sides.

    Raises:
        NotStorableError: where the scorer is no inner product, has a bias or a standardisation, has a learned map
            that takes whole vectors only, or has numbers that the code cannot write.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> documents = np.array([[3.0, 4.0], [5.0, -12.0]], np.float32)
        >>> moments = osp.Moments.of(documents)
        >>> stored = store(osp.Scorer(), StoredForm("binary"), documents, moments)
        >>> stored.transform(documents).tolist()
        [[1.0, 1.0], [1.0, -1.0]]
    """
    form = form.first_step
    _check_storable(scorer, by_query=by_query)
    if form.dimensions is not None and not form.sliced:
        scorer = _fitted_on_cut(scorer, form.dimensions, moments)
    kind = CODES[form.code]
    stored = StoredVectors(scorer, form, Float32())
    if kind.ranged:
        low, high = _ranges(stored, Blocks.of(documents))
        stored = replace(stored, code=kind.fitted(low, high))
        if not np.isfinite(stored.code.decoded(np.stack([low, high]))).all():
            largest = float(max(-low.min(), high.max()))
            raise NotStorableError(f"a number of its vectors is {largest:.3g}, more than {form.code} can hold")
    else:
        stored = replace(stored, code=kind.fitted(np.zeros(0, np.float32), np.zeros(0, np.float32)))
    return Scorer(DOT if _all_are_rankable(scorer) else IndexedDot(), (stored,), map=stored)


def _check_storable(scorer: Scorer, *, by_query: bool) -> None:
    """Refuse what no index holds as one vector a document, or whose scores an index does not give."""
    if not scorer.is_plain:
        raise NotStorableError("it gives documents numbers of their own, made from queries or the corpus")
    if not scorer.similarity.lowers:
        raise NotStorableError("it is no inner product of one vector a side")
    if not by_query and not isinstance(scorer.similarity, Polar):
        raise NotStorableError("its inner product orders the documents of one query, not all pairs")


def _fitted_on_cut(scorer: Scorer, width: int, moments: Moments) -> Scorer:
    """Fit a scorer's transforms again, on the first numbers of the documents."""
    if not scorer.transforms:
        return scorer
    if not all(transform.by_name for transform in scorer.transforms):
        raise NotStorableError("its learned map takes whole vectors")
    if scorer.fit(moments).map_key != scorer.map_key:
        raise NotStorableError("it was fitted on other documents, whole")
    try:
        return scorer.fit(Moments(moments.count, moments.mean[:width], moments.scatter[:width, :width]))
    except ParameterError as error:  # such as leading directions that leave nothing
        raise NotStorableError(str(error)) from error


def _ranges(stored: StoredVectors, blocks: Blocks) -> tuple[Rows, Rows]:
    """Find the smallest and the largest number of every dimension, over documents that have a place."""
    lows, highs = [], []
    for block in blocks:
        rows = stored.lowered(block)
        if not _all_are_rankable(stored.scorer):
            rows = rows[rows.any(axis=1)]
        if len(rows):
            lows.append(rows.min(axis=0))
            highs.append(rows.max(axis=0))
    if not lows:
        raise NotStorableError("no document has a length")
    return np.min(lows, axis=0), np.max(highs, axis=0)


def _all_are_rankable(scorer: Scorer) -> bool:
    """Tell whether a document of length zero has a value; else it is left out of an index."""
    return bool(np.isfinite(scorer.similarity.document_terms(np.zeros(1)).offset[0]))


def _sliced(rows: Rows, width: int, lowering: Lowering) -> Rows:
    """Cut the numbers of the vector, and keep the coordinate that was added to it."""
    added = rows[:, -1:] if lowering.extended else rows[:, :0]
    return np.ascontiguousarray(np.concatenate([rows[:, : min(width, rows.shape[1] - added.shape[1])], added], axis=1))
