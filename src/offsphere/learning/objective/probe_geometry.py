"""Learning dynamics: the geometry of a probe, which tells what training does to vectors while it goes on."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from offsphere.base.arrays import Array
from offsphere.geometry.directions import Directions
from offsphere.learning.objective.objective import Objective
from offsphere.learning.objective.regularizers import uniformity
from offsphere.statistics.effect import cohen_d_value
from offsphere.vectors.powered import powered


@torch.no_grad()
def probe_geometry(
    queries: Tensor, documents: Tensor, others: Tensor, objective: Objective | None = None
) -> dict[str, float]:
    """Lengths, anisotropy, positive and negative cosines, alignment, uniformity, effect, exponents and scale.

    Args:
        queries: (pairs, dimension) raw vectors, before normalisation.
        documents: (pairs, dimension) raw vectors; each belongs to the query of its row.
        others: (n, dimension) raw vectors of documents that nobody wants, for the effect of length; may be none.
        objective: What is trained, for its exponents and its scale; without one there are none of these.
    """
    cosines = powered(queries, 1.0) @ powered(documents, 1.0).T
    apart = cosines[~torch.eye(len(cosines), dtype=torch.bool)]
    positive = cosines.diagonal()
    row = {
        "query_length": float(queries.norm(dim=-1).mean()),
        "document_length": float(documents.norm(dim=-1).mean()),
        "query_variation": _variation(queries),
        "document_variation": _variation(documents),
        "query_anisotropy": Directions.of(queries.numpy())[0].mean_cosine,
        "document_anisotropy": Directions.of(documents.numpy())[0].mean_cosine,
        "positive_mean": float(positive.mean()),
        "positive_variance": float(positive.var(correction=0)),
        "negative_mean": float(apart.mean()),
        "negative_variance": float(apart.var(correction=0)),
        "alignment": float(2 - 2 * positive.mean()),
        "query_uniformity": float(uniformity(queries)),
        "document_uniformity": float(uniformity(documents)),
    }
    if objective is not None:
        exponents = objective.normalization.exponents
        row |= {"query_exponent": exponents.query, "document_exponent": exponents.document}
        row["scale"] = objective.current_scale
    if len(others) > 1:
        row["cohen_d"] = cohen_d_value(_lengths(documents), _lengths(others))
    return row


def _variation(vectors: Tensor) -> float:
    """Deviation over mean of the lengths."""
    lengths = _lengths(vectors)
    return float(lengths.std() / lengths.mean()) if lengths.any() else 0.0


def _lengths(vectors: Tensor) -> Array:
    return np.asarray(vectors.double().norm(dim=-1).numpy())
