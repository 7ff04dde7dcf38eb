"""Which links are taken away to be asked for: each user's last one, or a seeded share of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Flags, Index
from offsphere.base.errors import DataError, ParameterError

SHARE, FEWEST = 0.2, 5  # of a user's interactions that are held out, if there are so many
FEWEST_IN_TIME = 2  # one to hold out, and one to know the user by


class HeldOutLinks(NamedTuple):
    """What was taken: flags over the links, and the numbers of those who are asked."""

    taken: Flags
    sources: Index


def take_share(counts: Index, share: float = SHARE, seed: int = 0, most: int | None = None) -> HeldOutLinks:
    """Take a share of their links from all who have at least five, at random.

    Args:
        counts: How many links each source has; links are sorted by source.
        share: The share of a source's links that is taken, at least one.
        seed: Of the choice.
        most: From how many sources something is taken at most.

    Returns:
        What was taken, and from whom.

    Raises:
        ParameterError: The share is not between 0 and 1, or nobody is to be asked.
        DataError: No source has enough links.

    Example:
        >>> import numpy as np
        >>> from offsphere.data.holding_out import take_share
        >>> held = take_share(np.array([10, 2, 5]))
        >>> held.sources.tolist(), int(held.taken[:10].sum()), int(held.taken[12:].sum())
        ([0, 2], 2, 1)
    """
    if not 0 < share < 1 or (most is not None and most < 1):
        raise ParameterError(f"share = {share}, most_users = {most}: a share between 0 and 1, at least one user")
    able = np.flatnonzero(counts >= FEWEST)
    if not len(able):
        raise DataError(f"no user has {FEWEST} interactions, so none can be held out")
    rng = np.random.default_rng(seed)
    sources = np.sort(rng.permutation(able)[:most])
    starts = np.cumsum(counts) - counts
    taken = np.zeros(int(counts.sum()), np.bool_)
    for source in sources.tolist():
        start, count = int(starts[source]), int(counts[source])
        taken[start + rng.choice(count, max(1, round(share * count)), replace=False)] = True
    return HeldOutLinks(taken, sources)


def take_last(counts: Index, times: Array) -> HeldOutLinks:
    """Take the last link of all who have at least two; of several at one time, the one that stands last.

    Args:
        counts: How many links each source has; links are sorted by source.
        times: When each link was made.

    Returns:
        What was taken, and from whom.

    Raises:
        DataError: No source has two links.

    Example:
        >>> import numpy as np
        >>> from offsphere.data.holding_out import take_last
        >>> take_last(np.array([3, 1]), np.array([5.0, 9.0, 7.0, 1.0])).taken.tolist()
        [False, True, False, False]
    """
    sources = np.flatnonzero(counts >= FEWEST_IN_TIME)
    if not len(sources):
        raise DataError(f"no user has {FEWEST_IN_TIME} interactions, so none can be held out")
    owners = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((np.arange(len(times)), times, owners))  # by source, then time, then where it stands
    taken = np.zeros(len(times), np.bool_)
    taken[order[np.cumsum(counts)[sources] - 1]] = True
    return HeldOutLinks(taken, sources)
