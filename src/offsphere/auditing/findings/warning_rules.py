"""What to mind: vectors served in another way than they were made for, hubs, rogue dimensions, too few queries."""

from __future__ import annotations

from offsphere.auditing.findings.case import Case
from offsphere.base.shown_ids import shown_id
from offsphere.comparison.bias_verdict import bias_finding
from offsphere.comparison.units import FEWEST_UNITS
from offsphere.comparison.verdict import row_named, scorer_findings
from offsphere.geometry.hubness import HUB
from offsphere.geometry.length import LENGTHS_DISCARDED
from offsphere.statistics.power import units_needed
from offsphere.wording.finding import Finding

HUBBY = 3.0  # times the skewness that chance gives (or one), and times the hubs
ROGUE, CONE = 0.5, 0.1  # share of one dimension in the mean cosine, and how large that must be
COLLAPSED = 0.5  # of the larger value: below that share of it the smaller has collapsed


def wrongly_served(case: Case) -> list[Finding]:
    """A model that was made for one thing and is served by another, or whose length was thrown away."""
    if case.normalized:
        return [
            Finding(topic="wrong", claim="every length the same", numbers={"why": LENGTHS_DISCARDED}, certainty="sure")
        ]
    dot, cosine = row_named(case.table, "dot"), row_named(case.table, "cosine")
    numbers = case.dot
    if dot is None or cosine is None or numbers["dot"] not in ("gains", "loses"):
        return []
    findings = []
    if case.declared == "cosine" and dot.worse:
        findings.append(("made for cosine", numbers))
    higher, lower = max(dot.value, cosine.value), min(dot.value, cosine.value)
    collapses = lower < COLLAPSED * higher
    if higher > 0 and (collapses or (dot.worse and _transformed_into_dot(case))):
        claim = "dot collapses" if dot.worse else "cosine collapses"
        findings.append((claim, numbers | {"keeps": max(lower, 0.0) / higher}))
    return [
        Finding(topic="wrong", claim=claim, numbers=rest, direction="up" if dot.better else "down", certainty="sure")
        for claim, rest in findings
    ]


def _transformed_into_dot(case: Case) -> bool:
    """Whether an index set to dot product is advised for transformed vectors, where raw ones may get by mistake."""
    told = scorer_findings(case.table, case.choice)[0].numbers
    return case.choice.better and told["lowers"] and not told["pairs"] and told["index"] in (None, "inner product")


def hubs(case: Case) -> list[Finding]:
    """Documents that are everywhere under what is recommended, or else under cosine: more of them than chance makes."""
    served = case.choice.name if any(row.scorer == case.choice.name for row in case.shape.hubness) else "cosine"
    return [
        Finding(
            topic="wrong",
            claim="hubs",
            numbers={
                "scorer": row.scorer,
                "hubs": row.hub_count,
                "hubs_by_chance": row.chance["hubs"],
                "documents": row.documents,
                "queries": row.queries,
                "k": row.k,
                "lists": HUB * row.k,
                "worst": shown_id(row.worst[0].id),
                "worst_lists": row.worst[0].occurrences,
                "skewness": row.skewness,
            },
            direction="up",
            certainty="sure",
        )
        for row in case.shape.hubness
        if row.hub_count > HUBBY * row.chance["hubs"]
        and row.skewness > HUBBY * max(row.chance["skewness"], 1.0)
        and row.scorer == served
    ]


def rogue_dimensions(case: Case) -> list[Finding]:
    """A dimension that makes most of the cone in which the vectors of a side lie."""
    return [
        Finding(
            topic="wrong",
            claim="rogue dimension",
            numbers={
                "side": side.side,
                "dimension": int(side.order[0]),
                "part": side.cumulative_shares["1"],
                "mean_cosine": side.mean_cosine,
            },
            direction="up",
            certainty="sure",
        )
        for side in case.shape.dimensions
        if side.mean_cosine > CONE and side.cumulative_shares["1"] > ROGUE
    ]


def too_few_units(case: Case) -> list[Finding]:
    """How many queries would tell whether the choice really gains; asked only where such a gain would matter."""
    units, unit = case.units
    if not case.enough:
        numbers = {"units": units, "unit": unit, "fewest": FEWEST_UNITS}
        return [Finding(topic="wrong", claim="too few units", numbers=numbers, certainty="sure")]
    procedure = case.table.procedure
    if case.choice.better or case.unreadable or procedure is None or procedure.better:
        return []
    if procedure.gain < case.table.worth or case.table.nothing_worth_having:
        return []
    needed = units_needed(procedure.gain, procedure.error, procedure.reach, units)
    if needed is None or needed <= units:
        return []
    numbers = {"units": units, "unit": unit, "gain": procedure.gain, "needed": needed}
    return [Finding(topic="wrong", claim="more units", numbers=numbers, certainty="unsure")]


def cost_of_bias(case: Case) -> list[Finding]:
    """What a scorer with a document bias asks of whoever serves it."""
    finding = bias_finding(case.choice)
    return [finding] if finding is not None else []
