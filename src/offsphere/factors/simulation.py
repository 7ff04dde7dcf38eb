"""Simulated interactions with known clusters of items, after the experiment of Steck et al. 2024 (arXiv:2403.05440).

The paper leaves open how likely the clusters are, the law of the users' preferences and the largest number of items of
a user; here they are parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from offsphere.base.arrays import Array, Index
from offsphere.base.errors import ParameterError
from offsphere.base.short_repr import short_repr

AT_ONCE = 1_024  # users whose items are drawn together


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """Simulated interactions, and the clusters, popularities and preferences that made them."""

    interactions: sparse.csr_array  # (users, items), ones
    clusters: Index  # (items,) ascending, and within a cluster the most popular item first
    popularity: Array  # (items,)
    preferences: Array  # (users, clusters)

    __repr__ = short_repr


def simulate(
    users: int = 20_000,
    items: int = 1_000,
    clusters: int = 5,
    *,
    popularity_exponents: tuple[float, float] = (0.25, 1.5),
    activity_exponent: float = 0.5,
    least_items: int = 1,
    most_items: int = 100,
    concentration: float = 0.3,
    cluster_share: Array | None = None,
    seed: int = 0,
) -> Simulation:
    """Simulate who interacts with which items.

    Each cluster has a power law of popularity, each user preferences over clusters and a number of items.
    An item is drawn, without replacement, as likely as the user's preference for its cluster times its popularity.

    Args:
        users: How many users.
        items: How many items.
        clusters: How many clusters of items.
        popularity_exponents: A cluster's exponent is uniform between these two.
        activity_exponent: The number of items of a user follows a power law with this exponent.
        least_items: The fewest items of a user.
        most_items: The most items of a user.
        concentration: Preferences are Dirichlet with this concentration (ours: small values make users who like few
            clusters).
        cluster_share: How likely an item is in each cluster; equally without it.
        seed: Of all that is drawn.

    Returns:
        The interactions, sparse, with the cluster and popularity of each item and the preferences of each user.

    Raises:
        ParameterError: Numbers of users, items or clusters that cannot be, or laws that are none.

    Example:
        >>> import numpy as np, offsphere as osp
        >>> data = osp.simulate(users=100, items=20, clusters=4, most_items=10, seed=0)
        >>> data.interactions.shape, np.bincount(data.clusters).tolist()
        ((100, 20), [5, 3, 6, 6])
    """
    if min(users, items, clusters, least_items) < 1 or clusters > items or not least_items <= most_items <= items:
        raise ParameterError(
            f"{users} users, {items} items, {clusters} clusters, {least_items} to {most_items} items a user: all at "
            "least 1, no more clusters than items, no user with more items than there are"
        )
    low, high = popularity_exponents
    if not (np.isfinite([low, high, activity_exponent]).all() and low <= high and concentration > 0):
        raise ParameterError(
            f"popularity exponents {low} to {high}, activity exponent {activity_exponent}, concentration "
            f"{concentration}: finite, from low to high, and a concentration above zero"
        )
    if cluster_share is not None and (len(cluster_share) != clusters or not (np.asarray(cluster_share) > 0).all()):
        raise ParameterError(f"cluster_share: give {clusters} numbers above zero")
    rng = np.random.default_rng(seed)
    share = np.full(clusters, 1 / clusters) if cluster_share is None else np.asarray(cluster_share, np.float64)
    label = np.sort(rng.choice(clusters, items, p=share / share.sum()))
    exponents = rng.uniform(low, high, clusters)
    rank = np.arange(items) - np.searchsorted(label, label)  # of an item within its cluster
    popularity = (rank + 1.0) ** -exponents[label]
    preferences = rng.dirichlet(np.full(clusters, concentration), users)
    sizes = np.arange(least_items, most_items + 1)
    chance = sizes ** -float(activity_exponent)
    counts = rng.choice(sizes, users, p=chance / chance.sum())
    row, column = _draw_items(preferences, label, popularity, counts, most_items, rng)
    matrix = sparse.csr_array((np.ones(len(row)), (row, column)), shape=(users, items))
    return Simulation(matrix, label, popularity, preferences)


def _draw_items(
    preferences: Array, label: Index, popularity: Array, counts: Index, most: int, rng: np.random.Generator
) -> tuple[Index, Index]:
    """Draw each user's items, as likely as they are preferred and popular: the users, and the items they drew."""
    users, items = len(preferences), len(popularity)
    rows, columns = [], []
    for start in range(0, users, AT_ONCE):
        chosen = np.arange(start, min(start + AT_ONCE, users))
        weights = preferences[chosen][:, label] * popularity
        # the largest of log(weight) + Gumbel noise are a draw without replacement (Efraimidis & Spirakis 2006)
        with np.errstate(divide="ignore"):
            keys = np.log(weights) + rng.gumbel(size=weights.shape)
        if most < items:
            first = np.argpartition(-keys, most, axis=1)[:, :most]
        else:
            first = np.tile(np.arange(items), (len(chosen), 1))
        order = np.take_along_axis(first, np.argsort(-np.take_along_axis(keys, first, axis=1), axis=1), axis=1)
        # what a user can never choose is not chosen, however many items that leaves
        possible = np.isfinite(np.take_along_axis(keys, order, axis=1))
        kept = (np.arange(most) < counts[chosen][:, None]) & possible
        rows.append(np.repeat(chosen, kept.sum(axis=1)))
        columns.append(order[kept])
    return np.concatenate(rows), np.concatenate(columns)
