"""Do a few documents run the show? How often each is among the k nearest of the queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, skew

from offsphere.base.arrays import Index

NEIGHBOURS = 10
WORST = 10  # hubs that are named
HUB = 2  # times k: in so many lists a document is a hub


class Hub(NamedTuple):
    """A document and in how many lists it is."""

    id: str
    occurrences: int


@dataclass(frozen=True, slots=True, eq=False)
class Hubness:
    """How unevenly places in the lists of the k nearest are shared out, under one scorer."""

    scorer: str
    k: int
    queries: int
    documents: int
    skewness: float
    robin_hood: float
    gini: float
    antihub_share: float  # share of documents in no list
    hub_count: int  # documents in at least 2 k lists
    worst: Sequence[Hub]
    documents_in_lists: Index  # how many documents are in 0, 1, 2, ... lists
    chance: dict[str, float]  # the same numbers if every list were drawn at random

    @property
    def sentence(self) -> str:
        """Whether it is more than chance."""
        worst = f"; the worst, {self.worst[0].id!r}, is in {self.worst[0].occurrences}" if self.hub_count else ""
        return (
            f"{self.scorer}: skewness {self.skewness:.2f} (by chance {self.chance['skewness']:.2f}), "
            f"{self.hub_count} hubs in {HUB * self.k} lists or more{worst}; {self.antihub_share:.0%} of the documents "
            f"in none (by chance {self.chance['antihub_share']:.0%})"
        )


def hubness(scorer: str, ranked: Index, documents: int, ids: Sequence[str] | None = None) -> Hubness:
    """From the lists of the k nearest documents of each query (queries, k)."""
    queries, k = ranked.shape
    occurrences = np.bincount(ranked.ravel(), minlength=documents)
    order = np.argsort(-occurrences, kind="stable")[:WORST]
    return Hubness(
        scorer,
        k,
        queries,
        documents,
        skewness(occurrences),
        robin_hood(occurrences),
        gini(occurrences),
        float((occurrences == 0).mean()),
        int((occurrences >= HUB * k).sum()),
        [Hub(ids[place] if ids is not None else str(place), int(occurrences[place])) for place in order.tolist()],
        np.bincount(occurrences),
        by_chance(queries, k, documents),
    )


def skewness(occurrences: NDArray[np.integer]) -> float:
    """The third standardised moment (Radovanović et al. 2010)."""
    return float(skew(occurrences)) if np.ptp(occurrences) else 0.0


def robin_hood(occurrences: NDArray[np.integer]) -> float:
    """The share of places that would have to change hands to be shared out evenly: ``.5 Sum |O - mean| / Sum O``."""
    total = occurrences.sum()
    return float(np.abs(occurrences - occurrences.mean()).sum() / (2 * total)) if total else nan


def gini(occurrences: NDArray[np.integer]) -> float:
    """Half the mean absolute difference of two documents over the mean."""
    ranked, count = np.sort(occurrences), len(occurrences)
    total = ranked.sum()
    if not total:
        return nan
    return float((2 * np.arange(1, count + 1) - count - 1) @ ranked / (count * total))


def by_chance(queries: int, k: int, documents: int) -> dict[str, float]:
    """What to expect if each list held k documents drawn at random: the number of lists of a document is binomial."""
    share = k / documents
    if share >= 1:
        return {"skewness": 0.0, "robin_hood": 0.0, "gini": 0.0, "antihub_share": 0.0}
    law = binom(queries, share)
    values = np.arange(queries + 1)
    chances, mean = law.pmf(values), queries * share
    below = law.cdf(values)
    return {
        "skewness": (1 - 2 * share) / (queries * share * (1 - share)) ** 0.5,
        "robin_hood": float(chances @ np.abs(values - mean) / (2 * mean)),
        "gini": float((below * (1 - below)).sum() / mean),
        "antihub_share": float(chances[0]),
    }
