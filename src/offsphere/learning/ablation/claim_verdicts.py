"""What each claim of the papers comes to in an ablation, by what was claimed and with a corrected p."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan
from typing import NamedTuple, Protocol

import numpy as np

from offsphere.comparison.row import ALPHA
from offsphere.geometry.negatives import minibatch_bounds
from offsphere.learning.ablation.ablation import PaperFinding
from offsphere.learning.ablation.claims import (
    BEFORE,
    CLAIMS,
    FENG,
    LEE,
    NEITHER,
    OF_PROBES,
    RATIO,
    Claim,
    ClaimKind,
    RunSize,
    claim_of_ratio,
)
from offsphere.statistics.difference import Difference
from offsphere.statistics.significance import holm

NOT_JUDGED = "not judged"  # by runs that are too short, or of another kind


class ClaimEvidence(Protocol):
    """What claims are judged by."""

    def difference(self, variant: str, baseline: str, task: int) -> Difference:
        """One variant less another by the metric, on the task of a number."""
        ...

    def probed(self, variant: str, baseline: str, quantity: str) -> Difference | None:
        """One variant's probe at the end less another's, or less its own at the start; nothing where not measured."""
        ...

    def probe_value(self, variant: str, quantity: str) -> float:
        """A quantity of a variant's probe at the end, seeds averaged; no number where it was not measured."""
        ...

    def size(self, variant: str, baseline: str) -> RunSize:
        """How large the runs of two variants are."""
        ...


class _Tested(NamedTuple):
    """A claim with the difference it is about, and why that may not be judged."""

    claim: Claim
    where: str
    result: Difference
    reason: str


def findings_of(
    names: Sequence[str], tasks: Sequence[str], evidence: ClaimEvidence, *, pairs: bool
) -> list[PaperFinding]:
    """What each claim that can be tested here comes to.

    Args:
        names: The variants there are.
        tasks: The tasks they are judged by.
        evidence: Differences of variants, and how large their runs are.
        pairs: Whether the tasks are pairs, of which other claims are made than of rankings.

    Returns:
        A finding for each claim and task; each p is corrected for all that are judged.
    """
    ratio = _ratio_of_variations(names, evidence)
    by_ratio = claim_of_ratio(ratio)
    tested = [
        each
        for claim in ([*CLAIMS] if by_ratio is None else [*CLAIMS, by_ratio])
        if {claim.variant, claim.baseline} <= {*names, BEFORE} and claim.pairs in (None, pairs)
        for each in _tested(claim, tasks, evidence)
    ]
    judged = [each for each in tested if not each.reason]
    p_values = np.array([1.0 if isnan(each.result.p) else each.result.p for each in judged])
    corrected = iter(holm(p_values).tolist() if judged else [])
    findings = []
    for each in tested:
        claim, result = each.claim, each.result
        p = result.p if each.reason else next(corrected)
        around = "" if isnan(result.low) else f" [{result.low:+.4f}, {result.high:+.4f}], p = {p:.2g}"
        told = f"{claim.variant} less {claim.baseline} {each.where}: {result.difference:+.4f}{around}"
        answer = NOT_JUDGED if each.reason else verdict(claim.kind, result.difference, p)
        reason = f" ({each.reason})" if each.reason else ""
        findings.append(PaperFinding(claim.text, claim.paper, answer, told + reason, claim.quantity))
    findings += _within_bounds(names, evidence)
    if by_ratio is None and not isnan(ratio) and not pairs:
        findings.append(PaperFinding(RATIO, FENG, NOT_JUDGED, f"it is {ratio:.2g}, {NEITHER}", "query_variation"))
    return findings


def verdict(kind: ClaimKind, difference: float, p: float) -> str:
    """Whether a claim holds, does not hold, or, where the difference may be luck, is not decided."""
    if not p < ALPHA:
        return "not decided"
    right = {"above": difference > 0, "not above": difference < 0, "below": difference < 0, "other": True}[kind]
    return "holds" if right else "does not hold"


def _tested(claim: Claim, tasks: Sequence[str], evidence: ClaimEvidence) -> list[_Tested]:
    """A claim on every task that it is made of, or once where it is about a probe."""
    baseline = claim.variant if claim.baseline == BEFORE else claim.baseline
    reason = claim.least.why_not(evidence.size(claim.variant, baseline))
    if claim.quantity:
        result = evidence.probed(claim.variant, claim.baseline, claim.quantity)
        where = f"in {claim.quantity.replace('_', ' ')} of the probe, over seeds"
        return [] if result is None else [_Tested(claim, where, result, reason)]
    return [
        _Tested(claim, f"on {tasks[task]}", evidence.difference(claim.variant, claim.baseline, task), reason)
        for task in (range(1, len(tasks)) if claim.beyond else [0])
    ]


def _ratio_of_variations(names: Sequence[str], evidence: ClaimEvidence) -> float:
    """How much more query lengths vary where documents alone are normalised than under dot; maybe no number."""
    if not {"document", "dot", "query"} <= set(names):
        return nan
    over, under = (evidence.probe_value(name, "query_variation") for name in ("document", "dot"))
    return over / under if under > 0 else nan


def _within_bounds(names: Sequence[str], evidence: ClaimEvidence) -> list[PaperFinding]:
    """Where the negatives of cosine, and those with VRNS, scatter against the bounds for their batches.

    The bounds are those of an optimum. Beyond them a training is not there, or the probe is not what it learned from,
    so that it is not decided.
    """
    findings = []
    for name in ("cosine", "cosine, vrns"):
        value = evidence.probe_value(name, "negative_variance") if name in names else nan
        if isnan(value):
            continue
        size = evidence.size(name, name)
        for bound in minibatch_bounds(size.pairs, [size.batch]):
            reason = OF_PROBES.why_not(size)
            inside = "holds" if bound.low <= value <= bound.high else "not decided"
            told = f"{name}: variance {value:.4g}, bounds {bound.low:.2g} to {bound.high:.2g}"
            claim = f"batches of {size.batch:,} out of {size.pairs:,} leave the variance of negatives between bounds"
            answer, reason = (NOT_JUDGED, f" ({reason})") if reason else (inside, "")
            findings.append(PaperFinding(claim, LEE, answer, told + reason, "negative_variance"))
    return findings
