"""Dual evaluation: the same vectors scored by dot product and by cosine (Feng & Watanabe 2026, arXiv:2602.09229)."""

from __future__ import annotations

from dataclasses import dataclass

from offsphere.comparison.table import Comparison
from offsphere.geometry.evidence import Evidence
from offsphere.statistics.estimate import Estimate
from offsphere.statistics.significance import ALPHA
from offsphere.wording.written_numbers import chance

COLLAPSED = 0.5  # of the larger value: below that share of it the smaller has collapsed


@dataclass(frozen=True, slots=True, eq=False)
class Dual:
    """What the dot product gains or loses against cosine."""

    metric: str
    cosine: Estimate
    dot: Estimate
    difference: Estimate  # dot less cosine
    p: float
    warning: str | None

    @property
    def sentence(self) -> str:
        """What the dot product gains or loses, whether that is chance, and a warning where one of them collapsed."""
        if self.difference.low is None:
            return f"cosine and dot product cannot differ here: both reach {self.metric} {self.cosine.value:.4f}"
        verb = "gains" if self.difference.value > 0 else "loses"
        size = abs(self.difference.value)
        outcome = f"the dot product {verb} {size:.4f} {self.metric} against cosine ({chance(self.p)})"
        return f"{outcome}: {self.warning}" if self.warning is not None else outcome


def measure_dual(evidence: Evidence) -> Dual:
    """The section: dot product against cosine on the task."""
    return dual_of(evidence.table)


def dual_of(table: Comparison) -> Dual:
    """What the dot product gains or loses, from a comparison that has cosine and dot."""
    cosine, dot = table["cosine"], table["dot"]
    same = cosine is dot or dot.p is None
    warning = None
    if not same and dot.p is not None and dot.p < ALPHA:
        if max(cosine.value, dot.value) <= 0:
            warning = "both are negative: are the gold scores distances, or turned round?"
        elif cosine.value < COLLAPSED * dot.value:
            warning = (
                f"magnitude collapse: cosine keeps only {max(cosine.value, 0) / dot.value:.0%} of what the dot product "
                "finds; the model put its knowledge into length, so never serve it by cosine"
            )
        elif dot.value < COLLAPSED * cosine.value:
            warning = (
                f"the dot product keeps only {max(dot.value, 0) / cosine.value:.0%} of what cosine finds: raw length "
                "works against this model, so never serve its raw vectors by inner product"
            )
    return Dual(
        table.metric,
        Estimate(cosine.value, cosine.low, cosine.high),
        Estimate(dot.value, dot.low, dot.high),
        Estimate(0.0) if same else Estimate(dot.difference, dot.difference_low, dot.difference_high),
        1.0 if same or dot.p is None else dot.p,
        warning,
    )
