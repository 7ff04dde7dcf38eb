"""How unevenly is relevance spread over the documents? Where a few are wanted by many there is a prior to learn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offsphere.base.errors import OffsphereError
from offsphere.base.short_repr import short_repr
from offsphere.geometry.evidence import Evidence
from offsphere.geometry.hubness import by_chance, gini

KNOWN_ITEM = 0.05  # of the judgments: where fewer are for documents that somebody else wants too, nothing is popular


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Spread:
    """How often documents are relevant, over all queries."""

    documents: int
    judgments: int  # that say relevant
    gini: float
    gini_by_chance: float  # if as many judgments fell on documents at random
    never_share: float  # share of documents that are relevant to no query
    never_by_chance: float
    entropy: float  # of the judgments over documents, as a share of what an even spread over all of them has
    effective: float  # over how many documents an even spread would have that entropy
    wanted_again: float  # share of judgments whose document is relevant to another query too
    most_wanted: int  # queries that the most popular document is relevant to

    __repr__ = short_repr

    @property
    def known_item(self) -> bool:
        """Whether hardly any document is wanted twice, so that no popularity can be learned from judgments."""
        return self.wanted_again < KNOWN_ITEM

    @property
    def sentence(self) -> str:
        """Who is wanted, and whether judgments of some queries can say anything about those of others."""
        again = (
            "each document is wanted by one query"
            if self.most_wanted == 1
            else f"{self.wanted_again:.0%} of the judgments are for documents that another query wants too"
        )
        return (
            f"relevance: Gini {self.gini:.2f} (by chance {self.gini_by_chance:.2f}), {self.never_share:.0%} of the "
            f"documents never relevant (by chance {self.never_by_chance:.0%}), spread as if evenly over "
            f"{self.effective:,.0f} of {self.documents:,}; {again}"
        )


def measure_spread(evidence: Evidence) -> Spread:
    """The section: how relevance is spread over documents, on a task whose documents were judged."""
    task = evidence.task
    if task is None or task.relevant_to_any() is None:
        raise OffsphereError("it needs a ranking task, with queries, documents and judgments")
    return spread_of(np.bincount(task.positives()[1], minlength=len(evidence.sides[-1].vectors)))


def spread_of(wanted: NDArray[np.integer]) -> Spread:
    """Describe how often each document is relevant.

    Args:
        wanted: To how many queries each document is relevant.

    Returns:
        The unevenness, beside what chance gives to as many judgments.

    Example:
        >>> import numpy as np
        >>> from offsphere.geometry.spread import spread_of
        >>> even = spread_of(np.array([1, 1, 1, 1]))
        >>> even.gini, round(even.effective, 6), even.wanted_again
        (0.0, 4.0, 0.0)
        >>> popular = spread_of(np.array([6, 0, 0, 0]))
        >>> popular.gini, popular.never_share, round(popular.effective, 6)
        (0.75, 0.75, 1.0)
    """
    total, documents = int(wanted.sum()), len(wanted)
    if not total:
        raise OffsphereError("no document is relevant to any query")
    shares = wanted[wanted > 0] / total
    entropy = float(-(shares * np.log(shares)).sum()) + 0.0  # no minus before zero
    chance = by_chance(total, 1, documents)
    return Spread(
        documents=documents,
        judgments=total,
        gini=gini(wanted),
        gini_by_chance=chance["gini"],
        never_share=float((wanted == 0).mean()),
        never_by_chance=chance["antihub_share"],
        entropy=entropy / np.log(documents) if documents > 1 else 1.0,
        effective=float(np.exp(entropy)),
        wanted_again=float(wanted[wanted > 1].sum() / total),
        most_wanted=int(wanted.max()),
    )
