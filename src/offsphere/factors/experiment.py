"""The experiment of Steck et al. 2024 (arXiv:2403.05440, figure 1): one model, three rescalings, three cosines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.errors import ParameterError
from offsphere.base.short_repr import short_repr
from offsphere.factors.closed_form import FACTORS, PRODUCT, factorize, similarities
from offsphere.factors.simulation import Simulation
from offsphere.factors.stability import Stability, stability
from offsphere.scoring.similarity import COSINE
from offsphere.statistics.effect import superiority

USERS = 20_000
RANK, LAMBDAS = 50, {PRODUCT: 10_000.0, FACTORS: 100.0}  # of the paper


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Cosines of all items with all, sorted by cluster, and how well they tell clusters apart."""

    title: str
    note: str
    cosines: Array  # (items, items)
    within: float  # mean cosine of two items of one cluster
    between: float
    auc: float  # the chance that a pair within is above a pair between

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, eq=False)
class Experiment:
    """All panels, how stable the cosines of objective 1 are, and how large the data is."""

    panels: Sequence[Panel]
    stability: Stability
    users: int
    items: int
    interactions: int

    __repr__ = short_repr


def experiment(data: Simulation, k: int = RANK, lambdas: dict[int, float] | None = None, seed: int = 0) -> Experiment:
    """The true clusters, objective 1 as it comes and under its two named rescalings, and objective 2."""
    users, items = data.interactions.shape
    if len(np.unique(data.clusters)) < 2:  # noqa: PLR2004
        raise ParameterError("one cluster has nothing to be told apart from: simulate at least two")
    size = users / USERS  # squared singular values grow with the number of users
    chosen = lambdas or {PRODUCT: LAMBDAS[PRODUCT] * size, FACTORS: LAMBDAS[FACTORS] * sqrt(size)}
    free = factorize(data.interactions, k, chosen[PRODUCT], objective=PRODUCT, seed=seed)
    unique = factorize(data.interactions, k, chosen[FACTORS], objective=FACTORS, seed=seed)
    root = np.sqrt(free.shrinkage)
    same = (data.clusters[:, None] == data.clusters[None, :]).astype(np.float64)
    panels = [_panel("The truth", "items of one cluster are alike, others are not", same, data)]
    given = f"lambda = {chosen[PRODUCT]:g}"
    for title, note, factors in (
        ("Objective 1", f"A and B as alike as they can be, {given}", free),
        ("Objective 1, D = shrinkage^(1/2)", "the same model, the same scores", free.rescale(root)),
        ("Objective 1, D = shrinkage^(-1/2)", "the same model, the same scores", free.rescale(1 / root)),
        ("Objective 2", f"unique up to a rotation, lambda = {chosen[FACTORS]:g}", unique),
    ):
        panels.append(_panel(title, note, factors.item_similarities(), data))
    original = free.in_original_space(data.interactions)
    note = "the columns of X A B^T, the same whatever the rescaling"
    panels.append(_panel("Objective 1, in the original space", note, similarities(original, original, COSINE), data))
    trust = stability(free, neighbours=min(10, items - 1), seed=seed)
    return Experiment(panels, trust, users, items, int(data.interactions.nnz))


def _panel(title: str, note: str, cosines: Array, data: Simulation) -> Panel:
    """A panel, with how well its cosines tell the clusters of the simulation apart."""
    upper = np.triu_indices(len(cosines), 1)
    within = (data.clusters[:, None] == data.clusters[None, :])[upper]
    inside, outside = cosines[upper][within], cosines[upper][~within]
    return Panel(title, note, cosines, float(inside.mean()), float(outside.mean()), superiority(inside, outside).value)
