"""What is deployed, against what is recommended: an index's metric, its lengths, its cost, its answers."""

from __future__ import annotations

from math import isfinite
from typing import Any

from offsphere.auditing.findings.case import Case
from offsphere.comparison.choice import Choice, difference_of
from offsphere.comparison.row import Row
from offsphere.comparison.table import Comparison
from offsphere.comparison.verdict import has_enough, is_unreadable, recommended_choice, row_named, scorer_findings
from offsphere.engines.deployed.deployment import Deployment
from offsphere.statistics.significance import ALPHA
from offsphere.wording.finding import Certainty, Direction, Finding

LENGTHS = {
    "kept": "index keeps lengths",
    "lost in the engine": "engine threw lengths away",
    "lost before": "lengths lost before",
}


def deployed_index(case: Case) -> list[Finding]:
    """Everything that is known of the index in use; nothing where there is none."""
    if case.deployment is None:
        return []
    return deployed_findings(case.deployment, case.table, case.choice)


def deployed_findings(
    deployment: Deployment, table: Comparison | None = None, choice: Choice | None = None
) -> list[Finding]:
    """Say what an index in use does.

    Args:
        deployment: What is known of it.
        table: A comparison on its vectors, which tells what its setting costs.
        choice: What is recommended by that comparison; what ``recommended_choice`` says without.

    Returns:
        Its metric and lengths first; then its cost, its answers, and what it lacks, as far as these are known. Where an
        export changed the vectors, this stands in place of lengths and cost.
    """
    if deployment.made_for is not None:
        return [_made_for(deployment), *_answers(deployment), *_differences(deployment)]
    costs: list[Finding] = []
    if table is not None:
        costs = _cost(deployment, table, choice if choice is not None else recommended_choice(table))
    if deployment.at_hand is not None and deployment.at_hand.helps:  # by vectors that the index does not hold
        costs = [finding for finding in costs if finding.claim != "setting is recommended"]
    return [_lengths(deployment), *costs, *_answers(deployment), *_differences(deployment)]


def _lengths(deployment: Deployment) -> Finding:
    of_lengths = {name: getattr(deployment, name) for name in ("mean_length", "variation", "empty")}
    claim, worth = LENGTHS[deployment.lengths], deployment.at_hand
    if deployment.lengths == "kept":
        return _finding(claim, _names(deployment) | of_lengths, "none", "sure")
    numbers: dict[str, Any] = {"folder": worth.folder if worth is not None else None}
    if worth is None:
        return _finding(claim, _names(deployment) | of_lengths | numbers, "none", "unknown")  # what length is worth
    certain = worth.p is not None and worth.p < ALPHA and bool(worth.gain)
    numbers |= {"dot_metric": worth.metric, "dot_gain": worth.gain, "dot_low": worth.low, "dot_high": worth.high}
    numbers |= {"dot_p": worth.p, "certain": certain}
    direction: Direction = "up" if worth.helps else "down" if certain else "none"
    return _finding(claim, _names(deployment) | of_lengths | numbers, direction, "sure" if certain else "unsure")


def _made_for(deployment: Deployment) -> Finding:
    numbers = _names(deployment) | {"made_for": deployment.made_for}
    return _finding("index holds changed vectors", numbers, "none", "sure")


def _cost(deployment: Deployment, table: Comparison, choice: Choice) -> list[Finding]:
    """What the setting costs against what is recommended; nothing where no task could tell."""
    scorer = deployment.scorer
    row = row_named(table, scorer.name) if scorer is not None else None
    if scorer is None or row is None or is_unreadable(table) or not has_enough(table):
        return []
    if not isfinite(row.value) or not isfinite(choice.row.value):
        return []
    numbers = _names(deployment) | {"name": choice.name, "deployed": scorer.name, "metric": table.metric}
    if row is choice.row:
        return [_finding("setting is recommended", numbers, "none", "equal")]
    cure = deployment.cure(choice.scorer)
    numbers |= {"worth": table.worth, "cure": cure.change, "cure_setting": cure.setting, **_gain(table, choice, row)}
    numbers |= _baseline_alone(table, choice, row)
    if numbers["p"] is None or numbers["p"] >= ALPHA or not numbers["gain"]:
        return [_finding("setting may cost", numbers, "none", "unsure")]
    if numbers["gain"] < 0:
        return [_finding("setting is better", numbers, "down", "sure")]
    return [_finding("setting costs", numbers, "up", "sure")]


def _gain(table: Comparison, choice: Choice, row: Row) -> dict[str, Any]:
    """What the recommended scorer gains over a row: what was tested where one of them is the baseline."""
    baseline = table[table.baseline]
    alone = {"pair": False, "chosen_share": None, "choices": None}
    if row is baseline:
        told = scorer_findings(table, choice)[0].numbers
        return alone | {name: told[name] for name in ("gain", "gain_low", "gain_high", "p", "chosen_share", "choices")}
    if choice.row is baseline:
        low, high = -row.difference_high, -row.difference_low
        return alone | {"gain": -row.difference, "gain_low": low, "gain_high": high, "p": row.p}
    pair = alone | {"pair": True}
    apart = difference_of(choice.row, row, table.seed)
    if apart is None:
        return pair | {"gain": choice.row.value - row.value, "gain_low": None, "gain_high": None, "p": None}
    return pair | {"gain": apart.difference, "gain_low": apart.low, "gain_high": apart.high, "p": apart.p}


def _baseline_alone(table: Comparison, choice: Choice, row: Row) -> dict[str, Any]:
    """What the baseline surely gains over a row, where something else is recommended."""
    baseline = table[table.baseline]
    sure = row.worse and choice.row is not baseline
    return {
        "baseline": table.baseline,
        "alone": -row.difference if sure else None,
        "alone_low": -row.difference_high if sure else None,
        "alone_high": -row.difference_low if sure else None,
        "alone_p": row.p if sure else None,
    }


def _answers(deployment: Deployment) -> list[Finding]:
    seen = deployment.answers
    if seen is not None:
        of_answers = {name: getattr(seen, name) for name in ("k", "queries", "recall", "short", "fewest")}
        direction: Direction = "none" if seen.recall >= 1 else "down"
        return [_finding("index answers", _names(deployment) | of_answers, direction, "sure")]
    if deployment.refused:
        numbers = _names(deployment) | {"k": deployment.k, "refused": deployment.refused}
        return [_finding("index refuses", numbers, "down", "sure")]
    return []


def _differences(deployment: Deployment) -> list[Finding]:
    if not deployment.missing and not deployment.unknown:
        return []
    counts = {name: getattr(deployment, name) for name in ("documents", "missing", "unknown")}
    return [_finding("index and task differ", _names(deployment) | counts, "none", "sure")]


def _names(deployment: Deployment) -> dict[str, Any]:
    """What the index is, which every sentence may use."""
    setting = str(deployment.metric) if deployment.metric is not None else None
    return {
        "engine": deployment.engine.name,
        "target": deployment.target,
        "index": deployment.index,
        "rows": deployment.rows,
        "setting": setting,
    }


def _finding(claim: str, numbers: dict[str, Any], direction: Direction, certainty: Certainty) -> Finding:
    return Finding(topic="deployed", claim=claim, numbers=numbers, direction=direction, certainty=certainty)
