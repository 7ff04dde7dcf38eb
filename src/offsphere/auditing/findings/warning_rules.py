"""What to mind: vectors served in another way than they were made for, hubs, rogue dimensions, too few queries."""

from __future__ import annotations

from offsphere.auditing.findings.case import FEWEST_UNITS, Case, Finding
from offsphere.geometry.length import NORMALISED
from offsphere.statistics.power import units_needed

HUBBY = 3.0  # times the skewness that chance gives (or one)
ROGUE, CONE = 0.5, 0.1  # share of one dimension in the mean cosine, and how large that must be


def wrongly_served(case: Case) -> list[Finding]:
    """A model that was made for one thing and is served by another, or whose length was thrown away."""
    findings: list[Finding] = []
    dot, dual = case.row("dot"), case.shape.dual
    if case.normalised:
        findings.append(Finding("wrong", f"Every length is the same: {NORMALISED}.", {}))
    if case.declared == "cosine" and dot is not None and dot.worse:
        sentence = (
            f"The model was made for cosine: served by inner product on raw vectors it loses {-dot.difference:.4f} "
            f"{case.table.metric} (p = {dot.p:.2g}). Check that your index normalises, or is set to cosine."
        )
        findings.append(Finding("wrong", sentence, {"difference": dot.difference, "p": dot.p}))
    if dual is not None and dual.warning is not None:
        warning = f"{dual.warning[0].upper()}{dual.warning[1:].rstrip('?.')}."
        findings.append(Finding("wrong", warning, {"p": dual.p}))
    return findings


def hubs(case: Case) -> list[Finding]:
    """Documents that are everywhere, under cosine or under what is recommended."""
    return [
        Finding(
            "wrong",
            f"Hubs under {row.scorer}: {row.hub_count} documents are in {2 * row.k} or more of {row.queries:,} lists, "
            f"the worst, {row.worst[0].id!r}, in {row.worst[0].occurrences} (skewness {row.skewness:.1f}, by chance "
            f"{row.chance['skewness']:.1f}).",
            {"skewness": row.skewness},
        )
        for row in case.shape.hubness
        if row.hub_count
        and row.skewness > HUBBY * max(row.chance["skewness"], 1.0)
        and row.scorer in ("cosine", case.choice.row.deployed)
    ]


def rogue_dimensions(case: Case) -> list[Finding]:
    """A dimension that makes most of the cone in which the vectors of a side lie."""
    return [
        Finding(
            "wrong",
            f"A rogue dimension on the {side.side} side: dimension {side.order[0]} makes "
            f"{side.cumulative_shares['1']:.0%} of the mean cosine of {side.mean_cosine:.2f}. Centring or whitening "
            "takes it out.",
            {"share": side.cumulative_shares["1"]},
        )
        for side in case.shape.dimensions
        if side.mean_cosine > CONE and side.cumulative_shares["1"] > ROGUE
    ]


def too_few_units(case: Case) -> list[Finding]:
    """How many more queries would tell whether following the choice gains what it seems to, where that matters."""
    table, procedure, (units, unit) = case.table, case.table.procedure, case.units
    if units < FEWEST_UNITS:
        sentence = f"{units} {unit} are too few to tell anything: give at least {FEWEST_UNITS}, better some hundred."
        return [Finding("wrong", sentence, {"have": units})]
    if case.choice.better or procedure is None or procedure.gain < table.worth:
        return []
    needed = units_needed(procedure.gain, procedure.low, procedure.high, units)
    if needed is None or needed <= units:
        return []
    sentence = (
        f"{units:,} {unit} are too few to tell: if following the choice really gains {procedure.gain:+.4f}, about "
        f"{needed:,} {unit} ({needed - units:,} more) would show it in four of five tries."
    )
    return [Finding("wrong", sentence, {"needed": needed, "have": units})]
