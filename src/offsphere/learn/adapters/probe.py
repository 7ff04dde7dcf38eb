"""Learning dynamics: what training does to the geometry of a probe set, measured every few steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from offsphere.base.arrays import Array, Flags
from offsphere.data.task import EmbeddedTask
from offsphere.geometry.directions import Directions
from offsphere.geometry.positives import positives_of
from offsphere.learn.adapters.adapter_module import AdapterModule
from offsphere.learn.objective.objective import Objective
from offsphere.learn.objective.regularizers import uniformity
from offsphere.statistics.effect import cohen_d_value
from offsphere.vectors.powered import powered

PAIRS = 256  # of the probe, and as many documents that are relevant to nothing


@dataclass(frozen=True, slots=True, eq=False)
class Probe:
    """Held-out positive pairs, no query twice, and documents that are relevant to none of them."""

    queries: Tensor  # (pairs, dimension)
    documents: Tensor  # (pairs, dimension)
    others: Tensor  # (documents, dimension); empty for pair tasks

    @classmethod
    def of(cls, held_out: EmbeddedTask, seed: int = 0, relevant: Flags | None = None) -> Probe:
        """A random probe, the same for the same seed; ``relevant`` marks documents that any query is known to want."""
        task, vectors = held_out
        found = positives_of(task, vectors)
        rng = np.random.default_rng(seed)
        _, first = np.unique(found.left, return_index=True)
        _, once = np.unique(found.right[first], return_index=True)
        chosen = rng.permutation(first[once])[:PAIRS]
        wanted = task.relevant_to_any()
        one, other = vectors.sides
        others = other[:0]
        if wanted is not None:
            if relevant is not None and len(relevant) == len(wanted):
                wanted = wanted | relevant
            others = other[np.sort(rng.permutation(np.flatnonzero(~wanted))[:PAIRS])]
        rows = [one[found.left[chosen]], other[found.right[chosen]], others]
        return cls(*(torch.from_numpy(np.array(part, np.float32)) for part in rows))

    @torch.no_grad()
    def measure(self, module: AdapterModule, objective: Objective) -> dict[str, float]:
        """Of the vectors as the adapter maps them."""
        queries, documents = module(self.queries, "query")[0], module(self.documents, "document")[0]
        return probed(queries, documents, module(self.others, "document")[0], objective)


@torch.no_grad()
def probed(queries: Tensor, documents: Tensor, others: Tensor, objective: Objective) -> dict[str, float]:
    """Lengths, anisotropy, positive and negative cosines, alignment, uniformity, effect, exponents, scale."""
    cosines = powered(queries, 1.0) @ powered(documents, 1.0).T
    apart = cosines[~torch.eye(len(cosines), dtype=torch.bool)]
    positive = cosines.diagonal()
    exponents = objective.normalization.exponents
    found = {
        "query_length": float(queries.norm(dim=-1).mean()),
        "document_length": float(documents.norm(dim=-1).mean()),
        "query_anisotropy": Directions.of(queries.numpy())[0].mean_cosine,
        "document_anisotropy": Directions.of(documents.numpy())[0].mean_cosine,
        "positive_mean": float(positive.mean()),
        "positive_variance": float(positive.var(correction=0)),
        "negative_mean": float(apart.mean()),
        "negative_variance": float(apart.var(correction=0)),
        "alignment": float(2 - 2 * positive.mean()),
        "query_uniformity": float(uniformity(queries)),
        "document_uniformity": float(uniformity(documents)),
        "query_exponent": exponents.query,
        "document_exponent": exponents.document,
        "scale": objective.current_scale,
    }
    if len(others) > 1:
        found["cohen_d"] = cohen_d_value(_lengths(documents), _lengths(others))
    return found


def _lengths(vectors: Tensor) -> Array:
    return np.asarray(vectors.double().norm(dim=-1).numpy())
