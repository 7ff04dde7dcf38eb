"""Which scorer to use, and what it gains over cosine and over what the model declares: what ``compare`` says too."""

from __future__ import annotations

from offsphere.auditing.findings.case import Case
from offsphere.comparison.lists_verdict import lists_finding
from offsphere.comparison.verdict import scorer_findings
from offsphere.wording.finding import Finding


def recommended_scorer(case: Case) -> list[Finding]:
    """The scorer to use and why, then what else is known of the choice."""
    return scorer_findings(case.table, case.choice)


def other_systems(case: Case) -> list[Finding]:
    """How the best of other systems' lists stands to that scorer, where some were compared."""
    finding = lists_finding(case.table)
    return [finding] if finding is not None else []
