"""Dual evaluation: the same vectors scored by dot product and by cosine (Feng & Watanabe 2026, arXiv:2602.09229)."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from offsphere.comparison.row import Row
from offsphere.comparison.table import Comparison
from offsphere.comparison.units import too_few
from offsphere.comparison.verdict import DotState, dot_state, is_unreadable, units_of
from offsphere.geometry.evidence import Evidence
from offsphere.statistics.estimate import Estimate
from offsphere.wording.written_numbers import chance, with_interval

COLLAPSED = 0.5  # of the larger value: below that share of it the smaller has collapsed


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Dual:
    """What the dot product gains or loses against cosine."""

    metric: str
    cosine: Estimate
    dot: Estimate
    difference: Estimate  # dot less cosine
    p: float
    state: DotState  # which of the four the verdict calls it
    why_not: str  # why nothing can be told; empty where something can
    warning: str | None

    @property
    def sentence(self) -> str:
        """What the dot product surely does, or that it cannot be told, and a warning where one of them collapsed."""
        if self.why_not:
            return f"what the dot product does against cosine cannot be told: {self.why_not}"
        if self.difference.low is None:
            return f"cosine and dot product cannot differ here: both reach {self.metric} {self.cosine.value:.4f}"
        if self.state in ("gains", "loses"):
            size = f"{abs(self.difference.value):.4f} {self.metric}"
            outcome = f"the dot product {self.state} {size} against cosine ({chance(self.p)})"
            return f"{outcome}: {self.warning}" if self.warning is not None else outcome
        differs = f"{with_interval(*self.difference)} {self.metric}, {chance(self.p)}"
        if self.state == "equal":
            return f"the dot product makes no difference that matters against cosine ({differs})"
        return f"whether the dot product gains or loses against cosine cannot be told ({differs})"


def measure_dual(evidence: Evidence) -> Dual:
    """The section: dot product against cosine on the task."""
    return dual_of(evidence.table)


def dual_of(table: Comparison) -> Dual:
    """What the dot product gains or loses, from a comparison that has cosine and dot."""
    cosine, dot = table["cosine"], table["dot"]
    same = cosine is dot or dot.p is None
    return Dual(
        metric=table.metric,
        cosine=Estimate(cosine.value, cosine.low, cosine.high),
        dot=Estimate(dot.value, dot.low, dot.high),
        difference=Estimate(0.0) if same else Estimate(dot.difference, dot.difference_low, dot.difference_high),
        p=1.0 if same or dot.p is None else dot.p,
        state=dot_state(table, dot),
        why_not=_why_not(table, cosine, dot),
        warning=None if same else _warning(cosine, dot),
    )


def _why_not(table: Comparison, cosine: Row, dot: Row) -> str:
    """Why the two tell nothing: gold scores that are turned round, a score that has no value, or few queries."""
    if not isfinite(cosine.value) or not isfinite(dot.value):
        return f"{'cosine' if isfinite(dot.value) else 'the dot product'} has no {table.metric}"
    if is_unreadable(table):
        return "cosine agrees with the gold scores less than chance would; are they distances, or turned round?"
    return too_few(*units_of(table))


def _warning(cosine: Row, dot: Row) -> str | None:
    """What must never be served, where one of the two surely finds less than half of what the other does."""
    if max(cosine.value, dot.value) <= 0:
        return None
    if dot.better and cosine.value < COLLAPSED * dot.value:
        return (
            f"magnitude collapse: cosine keeps only {max(cosine.value, 0) / dot.value:.0%} of what the dot product "
            "finds; the model put its knowledge into length, so never serve it by cosine"
        )
    if dot.worse and dot.value < COLLAPSED * cosine.value:
        return (
            f"the dot product keeps only {max(dot.value, 0) / cosine.value:.0%} of what cosine finds: raw length "
            "works against this model, so never serve its raw vectors by inner product"
        )
    return None
