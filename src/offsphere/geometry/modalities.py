"""Texts against images: how far apart a model puts the two kinds, and whether length tells which pairs are found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array, Flags, Index
from offsphere.base.errors import DoesNotApplyError
from offsphere.base.short_repr import short_repr
from offsphere.data.items import ItemKind, kinds_of
from offsphere.geometry.evidence import NEIGHBOURS, Evidence
from offsphere.geometry.hubness import Hubness, hubness
from offsphere.geometry.sides import MeasuredSide
from offsphere.ranking.search import search
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE
from offsphere.statistics.effect import superiority
from offsphere.statistics.estimate import Estimate
from offsphere.vectors.widths import refuse_two_widths

CHANCE = 0.5  # of an area under the ROC curve
FEWEST = 10  # pairs of a group, to say anything of it


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Modalities:
    """Two sides of different kinds in one space.

    Attributes:
        kinds: What stands on the side that asks, and on the side that is asked for.
        gap: The distance between the mean directions of the two kinds (Liang et al. 2022, arXiv:2203.02053).
        variance_share: The share of the variance of all directions that is between the kinds, not within them.
        found: The share of pairs that belong together whose document is among the ten nearest to its query by cosine.
        query_certainty: The chance that a pair that is found has the longer query than one that is not.
        document_certainty: The same of documents.
        hubs: How entries among the nearest are shared out, when the second kind is searched, and when the first is.
    """

    kinds: tuple[ItemKind, ItemKind]
    gap: float
    variance_share: float
    found: float
    query_certainty: Estimate | None
    document_certainty: Estimate | None
    hubs: Sequence[Hubness]

    __repr__ = short_repr

    @property
    def sentence(self) -> str:
        """How far the kinds are apart, and what length has to do with what is found."""
        first, second = self.kinds
        gap = (
            f"{first}s and {second}s lie {self.gap:.2f} apart (mean directions; 2 is opposite), which is "
            f"{self.variance_share:.0%} of all variance"
        )
        return f"{gap}; {self._certainty()}"

    def _certainty(self) -> str:
        said = []
        for kind, certainty in zip(self.kinds, (self.query_certainty, self.document_certainty), strict=True):
            if certainty is not None and certainty.low is not None and certainty.high is not None:
                longer = "longer" if certainty.low > CHANCE else "shorter" if certainty.high < CHANCE else None
                if longer is not None:
                    said.append(f"pairs that are found have {longer} {kind} vectors (AUC {certainty.value:.2f})")
        if said:
            return " and ".join(said)
        if self.query_certainty is None and self.document_certainty is None:
            return f"{self.found:.0%} of pairs are found, too few or too many to say whether length tells which"
        return "length does not tell which pairs are found"


def measure_modalities(evidence: Evidence) -> Modalities:
    """The section: the gap between two kinds of items, and length against certainty."""
    kinds = _kinds(evidence.sides)
    assert evidence.embedded is not None  # or there would be no items
    task, vectors = evidence.embedded
    refuse_two_widths(*vectors.widths)
    means = [scan.directions.mean for scan in evidence.scans]
    left, right = task.positives()
    nearest = evidence.neighbours["cosine"]
    found: Flags = (nearest[left] == right[:, None]).any(axis=1)
    lengths = [scan.lengths for scan in evidence.scans]
    return Modalities(
        kinds=kinds,
        gap=float(np.linalg.norm(means[0] - means[1])),
        variance_share=_share_between(means, [len(side.vectors) for side in evidence.sides]),
        found=float(found.mean()),
        query_certainty=_certainty(lengths[0][left], found),
        document_certainty=_certainty(lengths[1][right], found),
        hubs=[_hubs(evidence.sides[1], nearest, kinds[1]), _hubs_of_queries(evidence.sides, kinds[0])],
    )


def _kinds(sides: Sequence[MeasuredSide]) -> tuple[ItemKind, ItemKind]:
    """What stands on either side; an error where that is one kind, or unknown."""
    of_sides = [kinds_of(side.texts) for side in sides if side.texts is not None]
    if len(of_sides) < 2 or any(len(kinds) > 1 for kinds in of_sides) or of_sides[0] == of_sides[1]:  # noqa: PLR2004
        raise DoesNotApplyError("it needs a task with texts on one side and images on the other")
    return of_sides[0][0], of_sides[1][0]


def _share_between(means: Sequence[Array], counts: Sequence[int]) -> float:
    """The variance of directions between two groups over all of it; directions have length one, so means suffice."""
    first = counts[0] / sum(counts)
    middle = first * means[0] + (1 - first) * means[1]
    total = 1 - float(middle @ middle)
    between = first * (1 - first) * float(np.sum((means[0] - means[1]) ** 2))
    return between / total if total > 0 else 0.0


def _certainty(lengths: Array, found: Flags) -> Estimate | None:
    """The chance that a found pair has the greater length; nothing where there are too few pairs of a group."""
    if min(found.sum(), (~found).sum()) < FEWEST or not np.ptp(lengths):
        return None
    return superiority(lengths[found], lengths[~found])


def _hubs(side: MeasuredSide, nearest: Index, kind: ItemKind) -> Hubness:
    return hubness(f"cosine, {kind}s searched", nearest[:, :NEIGHBOURS], len(side.vectors), side.ids)


def _hubs_of_queries(sides: Sequence[MeasuredSide], kind: ItemKind) -> Hubness:
    """Hubs among the queries, when the documents ask."""
    asked, asking = sides
    k = min(NEIGHBOURS, len(asked.vectors))
    (top,) = search(asking.vectors, asked.vectors, [Scorer(COSINE)], k, ids=asked.ids)
    return _hubs(asked, top.documents, kind)
