"""What each claim of the papers comes to in an ablation, by what was claimed and with a corrected p.

Variants are known to claims by their roles (cosine, ``cosine + vrns``, ...), and are held against each other within a
setting: where VRNS was crossed with the batch, every batch has verdicts of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan, nan
from typing import NamedTuple, Protocol

import numpy as np

from offsphere.geometry.negatives import minibatch_bounds
from offsphere.learning.ablation.ablation import PaperFinding
from offsphere.learning.ablation.claims import (
    BEFORE,
    CLAIMS,
    DUAL,
    FENG,
    ITSELF,
    LEE,
    OF_PROBES,
    SCATTER,
    Claim,
    ClaimKind,
    RunSize,
    Start,
)
from offsphere.learning.ablation.foretold import RulePrediction, by_ratio, by_variation
from offsphere.learning.ablation.variants import setting_without
from offsphere.statistics.difference import Difference
from offsphere.statistics.significance import ALPHA, holm
from offsphere.wording.written_numbers import chance

NOT_JUDGED = "not judged"  # by runs that are too short, or of another kind
OF_ITSELF = (BEFORE, ITSELF)  # baselines that are no other variant
BOUNDED = ("cosine", "cosine + vrns")  # roles whose negatives are held against bounds


class Subject(NamedTuple):
    """A variant as claims know it."""

    name: str
    role: str
    setting: str = ""


class ClaimEvidence(Protocol):
    """What claims are judged by; variants are given by their names."""

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


class _ClaimTest(NamedTuple):
    """A claim with the difference it is about, of which variants, in which setting, and why it may not be judged."""

    claim: Claim
    variant: str
    baseline: str
    setting: str
    where: str
    result: Difference
    reason: str


def claim_findings(
    subjects: Sequence[Subject], tasks: Sequence[str], evidence: ClaimEvidence, *, pairs: bool, start: Start = "trained"
) -> list[PaperFinding]:
    """What each claim that can be tested here comes to.

    Args:
        subjects: The variants there are.
        tasks: The tasks they are judged by.
        evidence: Differences of variants, and how large their runs are.
        pairs: Whether the tasks are pairs, of which other claims are made than of rankings.
        start: What training starts from, of which other claims are made too.

    Returns:
        A finding for each claim, setting and task; each p is corrected for all that are judged.
    """
    settings = list(dict.fromkeys(subject.setting for subject in subjects))
    foretold = [] if pairs else [each for setting in settings for each in _foretold(subjects, setting, evidence)]
    made = [claim for claim in CLAIMS if claim.pairs in (None, pairs) and start in claim.starts]
    tested = [
        each
        for claim, within in [
            *((claim, setting) for claim in made for setting in settings),
            *((rule.claim, setting) for setting, rule in foretold if rule.claim is not None),
        ]
        for variant, baseline in _compared(claim, within, subjects)
        for each in _tested(claim, variant, baseline, within, tasks, evidence)
    ]
    tested += _across_batches(subjects, evidence)
    judged = [each for each in tested if not each.reason]
    p_values = np.array([1.0 if isnan(each.result.p) else each.result.p for each in judged])
    corrected = iter(holm(p_values).tolist() if judged else [])
    findings = [_finding(each, each.result.p if each.reason else next(corrected)) for each in tested]
    findings += [finding for subject in subjects for finding in _within_bounds(subject, evidence)]
    findings += [
        PaperFinding(rule.text + _at(setting), FENG, NOT_JUDGED, rule.why_not, rule.quantity)
        for setting, rule in foretold
        if rule.claim is None
    ]
    return findings


def verdict(kind: ClaimKind, difference: float, p: float) -> str:
    """Whether a claim holds, does not hold, or, where the difference may be chance, is not decided."""
    if not p < ALPHA:
        return "not decided"
    right = {"above": difference > 0, "not above": difference < 0, "below": difference < 0, "other": True}[kind]
    return "holds" if right else "does not hold"


def _finding(tested: _ClaimTest, p: float) -> PaperFinding:
    """What was tested, in words."""
    claim, result = tested.claim, tested.result
    around = "" if isnan(result.low) else f" [{result.low:+.4f}, {result.high:+.4f}], {chance(p)}"
    told = f"{tested.variant} less {tested.baseline} {tested.where}: {result.difference:+.4f}{around}"
    answer = NOT_JUDGED if tested.reason else verdict(claim.kind, result.difference, p)
    reason = f" ({tested.reason})" if tested.reason else ""
    return PaperFinding(claim.text + _at(tested.setting), claim.paper, answer, told + reason, claim.quantity)


def _at(setting: str) -> str:
    """The setting of a claim behind its text."""
    return f", at {setting}" if setting else ""


def _compared(claim: Claim, setting: str, subjects: Sequence[Subject]) -> Iterator[tuple[str, str]]:
    """The names of the variants in a setting that a claim holds against each other."""
    here = [subject for subject in subjects if subject.setting == setting]
    for subject in here:
        if subject.role != claim.variant:
            continue
        if claim.baseline in OF_ITSELF:
            yield subject.name, claim.baseline
        yield from ((subject.name, other.name) for other in here if other.role == claim.baseline)


def _tested(
    claim: Claim, variant: str, baseline: str, setting: str, tasks: Sequence[str], evidence: ClaimEvidence
) -> list[_ClaimTest]:
    """A claim on every task that it is made of, or once where it is about a probe or its own score by cosine."""
    reason = claim.least.why_not(evidence.size(variant, variant if baseline in OF_ITSELF else baseline))
    if claim.quantity:
        result = evidence.probed(variant, baseline, claim.quantity)
        where = f"in {claim.quantity.replace('_', ' ')} of the probe, over seeds"
        if claim.quantity == DUAL:
            where = "on held-out data by cosine, over seeds"
        return [] if result is None else [_ClaimTest(claim, variant, baseline, setting, where, result, reason)]
    return [
        _ClaimTest(
            claim,
            variant,
            baseline,
            setting,
            f"on {tasks[task]}",
            evidence.difference(variant, baseline, task),
            reason,
        )
        for task in (range(1, len(tasks)) if claim.beyond else [0])
    ]


def _foretold(
    subjects: Sequence[Subject], setting: str, evidence: ClaimEvidence
) -> Iterator[tuple[str, RulePrediction]]:
    """What the rules of thumb predict for the ranking in one setting."""
    names = {subject.role: subject.name for subject in subjects if subject.setting == setting}
    if {"document", "dot", "query"} <= set(names):
        over, under = (evidence.probe_value(names[role], "query_variation") for role in ("document", "dot"))
        rule = by_ratio(over / under if under > 0 else nan)
        yield from ([] if rule is None else [(setting, rule)])
    if {"query", "cosine"} <= set(names):
        rule = by_variation(evidence.probe_value(names["query"], "document_variation"))
        yield from ([] if rule is None else [(setting, rule)])


def _across_batches(subjects: Sequence[Subject], evidence: ClaimEvidence) -> list[_ClaimTest]:
    """Whether negatives scatter more at the smallest batch than at the largest, all else equal."""
    batches: dict[str, dict[int, str]] = {}
    for subject in subjects:
        if subject.role == SCATTER.variant:
            rest = setting_without(subject.setting, "batch")
            batches.setdefault(rest, {})[evidence.size(subject.name, subject.name).batch] = subject.name
    tested = []
    for rest, by_batch in batches.items():
        if len(by_batch) > 1:
            small, large = by_batch[min(by_batch)], by_batch[max(by_batch)]
            tested += _tested(SCATTER, small, large, rest, (), evidence)
    return tested


def _within_bounds(subject: Subject, evidence: ClaimEvidence) -> list[PaperFinding]:
    """Where the negatives of cosine, and those with VRNS, scatter against the bounds for their batches.

    The bounds are those of an optimum. Outside them a training is short of it, or the probe is not the data that it
    learned from, so the claim is not decided.
    """
    value = evidence.probe_value(subject.name, "negative_variance") if subject.role in BOUNDED else nan
    if isnan(value):
        return []
    size = evidence.size(subject.name, subject.name)
    findings = []
    for bound in minibatch_bounds(size.pairs, [size.batch]):
        reason = OF_PROBES.why_not(size)
        inside = "holds" if bound.low <= value <= bound.high else "not decided"
        told = f"{subject.name}: variance {value:.4g}, bounds {bound.low:.2g} to {bound.high:.2g}"
        claim = f"batches of {size.batch:,} out of {size.pairs:,} leave the variance of negatives between bounds"
        answer, reason = (NOT_JUDGED, f" ({reason})") if reason else (inside, "")
        findings.append(PaperFinding(claim, LEE, answer, told + reason, "negative_variance"))
    return findings
