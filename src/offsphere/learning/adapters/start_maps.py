"""Where adapters start: the identity where both sides have one width, else the best rotation of one into the other.

Vectors of two widths have nothing in common, so a start is computed from the positive pairs. With the unit vectors of a
pair as rows of Q and D and the singular values of ``Q^T D = U S V^T``, queries times U and documents times V is the map
of orthonormal columns with the largest mean inner product of pairs (orthogonal Procrustes, Schoenemann 1966). Where one
side stays as it is, the other side takes both rotations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Vectors
from offsphere.base.errors import ParameterError
from offsphere.learning.adapters.adapter_recipe import Recipe
from offsphere.learning.data.pair_vectors import gather, widths_of
from offsphere.learning.data.training_pairs import VectorPairs
from offsphere.scoring.adapter import Adapter
from offsphere.scoring.transforms.adapter_map import SideAdapter
from offsphere.vectors.lengths import lengths

AT_ONCE = 8_192  # pairs whose vectors are read at a time
CLOSED_FORM = "closed form"


class StartMaps(NamedTuple):
    """The matrix that each side starts from; nothing for a side that starts from the identity."""

    query: Array | None = None  # (query width, common width)
    document: Array | None = None  # (document width, common width)

    @classmethod
    def of(cls, pairs: VectorPairs, recipe: Recipe) -> StartMaps:
        """The start of a recipe, whose sides are chosen, on some pairs.

        Raises:
            ParameterError: The recipe ties sides of two widths, or wants a common width that there cannot be.
        """
        queries, documents = widths_of(pairs)
        if queries == documents and recipe.width is None:
            return cls()
        if recipe.sides == "tied":
            raise ParameterError(
                f"sides = 'tied': one map for both sides takes vectors of one width and keeps it, and these have "
                f"{queries} and {documents} dimensions: choose untied, query or document"
            )
        if recipe.sides != "untied" and recipe.width is not None:
            raise ParameterError(
                f"width = {recipe.width}: where only the {recipe.sides} side is mapped, the other one has the width "
                "already: choose untied, or leave the width out"
            )
        width = recipe.width or min(queries, documents)
        if width > max(queries, documents):
            raise ParameterError(f"width = {width}: the wider side has {max(queries, documents)} dimensions, give less")
        left, right = _rotations(pairs)
        if recipe.sides == "query":
            return cls(query=_joined(left, right))
        if recipe.sides == "document":
            return cls(document=_joined(right, left))
        return cls(_columns(left, width), _columns(right, width))

    def adapter(self) -> Adapter:
        """The start itself as an adapter with cosine: what is there before anything is learned."""
        return Adapter(SideAdapter(self.query), SideAdapter(self.document), label=CLOSED_FORM)


def _rotations(pairs: VectorPairs) -> tuple[Array, Array]:
    """The rotations of both sides, (width, width) each, by which the pairs agree best in their first columns."""
    together = np.zeros(widths_of(pairs))
    for start in range(0, len(pairs), AT_ONCE):
        queries, documents = gather(pairs, np.arange(start, min(start + AT_ONCE, len(pairs))))
        together += _directions(queries).T @ _directions(documents)
    left, _, right = np.linalg.svd(together)
    return left, right.T


def _directions(rows: Vectors) -> Array:
    """Rows over their lengths, in float64; positives without a direction are no pairs."""
    return np.asarray(rows, np.float64) / lengths(rows)[:, None]


def _joined(turned: Array, towards: Array) -> Array:
    """The rotation of one side followed by the way back of the other: into the other's own coordinates."""
    shared = min(len(turned), len(towards))
    return np.asarray(turned[:, :shared] @ towards[:, :shared].T)


def _columns(rotation: Array, width: int) -> Array:
    """The first ``width`` columns of a rotation; where it has fewer, columns of zeros, which add nothing."""
    missing = max(0, width - rotation.shape[1])
    return np.pad(rotation[:, :width], ((0, 0), (0, missing)))
