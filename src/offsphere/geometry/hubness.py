"""Do a few documents run the show? How often each is among the k nearest of the queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, skew

from offsphere.base.arrays import Flags, Index
from offsphere.base.short_repr import short_repr
from offsphere.base.shown_ids import shown_id
from offsphere.geometry.evidence import NEIGHBOURS, Evidence
from offsphere.wording.written_numbers import expected_count

WORST = 10  # hubs that are named
HUB = 2  # times k: in so many lists a document is a hub


class Hub(NamedTuple):
    """A document and in how many lists it is."""

    id: str
    occurrences: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Hubness:
    """How unevenly entries in the lists of the k nearest are shared out, under one scorer."""

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
    never: Sequence[str]  # some documents in no list, those that are relevant to a query first
    documents_in_lists: Index  # how many documents are in 0, 1, 2, ... lists
    chance: dict[str, float]  # the same numbers if every list were drawn at random

    __repr__ = short_repr

    @property
    def sentence(self) -> str:
        """Whether there are more hubs, and more documents in no list, than chance makes."""
        worst = (
            f"; the worst, '{shown_id(self.worst[0].id)}', is in {self.worst[0].occurrences}" if self.hub_count else ""
        )
        return (
            f"{self.scorer}: skewness {self.skewness:.2f} (by chance {self.chance['skewness']:.2f}), "
            f"{self.hub_count:,} documents in {HUB * self.k} lists or more (by chance "
            f"{expected_count(self.chance['hubs'])}){worst}; {self.antihub_share:.0%} of the documents in none "
            f"(by chance {self.chance['antihub_share']:.0%})"
        )


def measure_hubness(evidence: Evidence) -> list[Hubness]:
    """The section: how entries among the nearest are shared out, under each scorer."""
    searched = evidence.sides[-1]
    relevant = evidence.task.relevant_to_any() if evidence.task is not None else None
    return [
        hubness(name, ranked[:, :NEIGHBOURS], len(searched.vectors), searched.ids, relevant)
        for name, ranked in evidence.neighbours.items()
    ]


def hubness(
    scorer: str, ranked: Index, documents: int, ids: Sequence[str] | None = None, relevant: Flags | None = None
) -> Hubness:
    """Count hubs in the lists of the k nearest documents of each query (queries, k)."""
    queries, k = ranked.shape
    occurrences = np.bincount(ranked.ravel(), minlength=documents)
    order = np.argsort(-occurrences, kind="stable")[:WORST]
    never = np.flatnonzero(occurrences == 0)
    if relevant is not None:
        never = never[np.argsort(~relevant[never], kind="stable")]
    return Hubness(
        scorer=scorer,
        k=k,
        queries=queries,
        documents=documents,
        skewness=skewness(occurrences),
        robin_hood=robin_hood(occurrences),
        gini=gini(occurrences),
        antihub_share=float((occurrences == 0).mean()),
        hub_count=int((occurrences >= HUB * k).sum()),
        worst=[Hub(ids[row] if ids is not None else str(row), int(occurrences[row])) for row in order.tolist()],
        never=[ids[row] if ids is not None else str(row) for row in never[:WORST].tolist()],
        documents_in_lists=np.bincount(occurrences),
        chance=by_chance(queries, k, documents),
    )


def skewness(occurrences: NDArray[np.integer]) -> float:
    """The third standardised moment (Radovanović et al. 2010)."""
    return float(skew(occurrences)) if np.ptp(occurrences) else 0.0


def robin_hood(occurrences: NDArray[np.integer]) -> float:
    """The share of entries that would have to change hands to be shared out evenly: ``.5 Sum |O - mean| / Sum O``."""
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
        hubs = float(documents) if queries >= HUB * k else 0.0  # every document is in every list
        return {"skewness": 0.0, "robin_hood": 0.0, "gini": 0.0, "antihub_share": 0.0, "hubs": hubs}
    law = binom(queries, share)
    values = np.arange(queries + 1)
    chances, mean = law.pmf(values), queries * share
    below = law.cdf(values)
    return {
        "skewness": (1 - 2 * share) / (queries * share * (1 - share)) ** 0.5,
        "robin_hood": float(chances @ np.abs(values - mean) / (2 * mean)),
        "gini": float((below * (1 - below)).sum() / mean),
        "antihub_share": float(chances[0]),
        "hubs": float(documents * law.sf(HUB * k - 1)),
    }
