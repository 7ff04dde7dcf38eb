"""The rules of advice, a topic a file: each looks at the evidence and says what it sees, with the numbers behind it."""

from __future__ import annotations

from collections.abc import Callable

from offsphere.auditing.findings.case import Case
from offsphere.auditing.findings.ceiling_rules import worth_of_documents
from offsphere.auditing.findings.deployed_rules import deployed_index
from offsphere.auditing.findings.expectation_rules import expectation
from offsphere.auditing.findings.length_rules import length_and_relevance
from offsphere.auditing.findings.scorer_rules import other_systems, recommended_scorer
from offsphere.auditing.findings.training_rules import sides_to_normalize
from offsphere.auditing.findings.warning_rules import (
    cost_of_bias,
    hubs,
    rogue_dimensions,
    too_few_units,
    wrongly_served,
)
from offsphere.wording.finding import Finding, Topic

# in the order in which they are told; a new rule is one more line
RULES: tuple[Callable[[Case], list[Finding]], ...] = (
    recommended_scorer,
    other_systems,
    length_and_relevance,
    expectation,
    worth_of_documents,
    deployed_index,
    sides_to_normalize,
    wrongly_served,
    cost_of_bias,
    hubs,
    rogue_dimensions,
    too_few_units,
)

__all__ = ["RULES", "Case", "Finding", "Topic", "findings_of"]


def findings_of(case: Case) -> list[Finding]:
    """What every rule has to say about the evidence, in the order of the rules."""
    return [finding for rule in RULES for finding in rule(case)]
