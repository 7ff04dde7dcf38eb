"""Which scorer to use, and what it gains over cosine and over what the model declares."""

from __future__ import annotations

from math import isfinite

from offsphere.auditing.findings.case import Case, Finding, difference_with_interval
from offsphere.comparison.choice import difference_p


def recommended_scorer(case: Case) -> list[Finding]:
    """The scorer to use, and why; first of all where the task or the vectors leave no choice."""
    if case.unreadable:
        return [_no_choice(case)]
    if case.normalised and not case.choice.better:
        return [_dot_on_unit_vectors(case)]
    if not case.choice.better:
        return [_simplest(case), *_against_declared(case)]
    return [_best(case), *_higher_but_not_surely(case), *_against_declared(case)]


def _no_choice(case: Case) -> Finding:
    """Even the baseline makes no sense of this task."""
    table = case.table
    value = table[table.baseline].value
    why = f"a {table.metric} of {value:.4f}, so the gold scores seem to be distances, or turned round"
    if not isfinite(value):
        why = f"no {table.metric}: it gives all {case.units[0]:,} {case.units[1]} one score, or none"
    sentence = (
        f"Do not choose by this task: {table.baseline} has {why}. Until that is mended, stay with {table.baseline}."
    )
    return _about_choice(case, sentence)


def _dot_on_unit_vectors(case: Case) -> Finding:
    return _about_choice(
        case,
        f"Use the dot product: the vectors are normalised, so it ranks as cosine does ({case.table.metric} "
        f"{case.choice.row.value:.4f}) and costs least{_judgments(case)}.",
    )


def _simplest(case: Case) -> Finding:
    """Nothing is significantly better than the baseline."""
    table, row, first = case.table, case.choice.row, case.table.best
    if first is row:
        why = f"nothing ranks better than its {table.metric} of {row.value:.4f}"
    else:
        why = (
            f"no scorer is significantly better than its {table.metric} of {row.value:.4f} (first comes "
            f"{first.deployed} with {difference_with_interval(first)}, p = {first.p:.2g} {table.tested(first)})"
        )
    return _about_choice(case, f"Use {row.deployed}, the simplest: {why}{_judgments(case)}.")


def _best(case: Case) -> Finding:
    """A scorer that is significantly better than the baseline."""
    table, row, procedure = case.table, case.choice.row, case.table.procedure
    if case.choice.by == "procedure" and procedure is not None:
        return _about_choice(
            case,
            f"Use {procedure.name}: choosing so by part of the {case.units[1]} reaches {table.metric} "
            f"{procedure.value:.4f} on the others, against {table[table.baseline].value:.4f} for {table.baseline}, "
            f"{procedure.gain:+.4f} [{procedure.low:+.4f}, {procedure.high:+.4f}], p = {procedure.p:.2g}"
            f"{_judgments(case)}.",
        )
    return _about_choice(
        case,
        f"Use {row.deployed}: {table.metric} {row.value:.4f} against {table[table.baseline].value:.4f} for "
        f"{table.baseline}, {difference_with_interval(row)}, p = {row.p:.2g} {table.tested(row)}"
        f"{_judgments(case)}.",
    )


def _higher_but_not_surely(case: Case) -> list[Finding]:
    """A scorer with a higher value than the recommended one, which is simpler."""
    row, best, p_best = case.choice.row, case.choice.best, case.choice.p_best
    if best is row or best.value <= row.value:
        return []
    sure = f" (p = {p_best:.2g} for the difference)" if p_best is not None else ""
    sentence = (
        f"{best.deployed} has a higher value in the table ({best.value:.4f}); {row.deployed} is as good within the "
        f"error of these {case.units[1]}{sure} and simpler to serve."
    )
    return [Finding("scorer", sentence, {"best": best.value, "p": p_best})]


def _against_declared(case: Case) -> list[Finding]:
    """The recommended scorer against what the model declares, where that is not what it was just compared with."""
    row = case.row(case.declared) if case.declared is not None else None
    chosen = case.choice.row
    if row is None or row is chosen or row.name == case.table.baseline:
        return []
    p = difference_p(chosen, row, case.table.seed)
    sure = f" (p = {p:.2g} for these two alone)" if p is not None else ""
    sentence = (
        f"The model declares {case.declared}, which reaches {case.table.metric} {row.value:.4f}: the recommended "
        f"one differs by {chosen.value - row.value:+.4f}{sure}."
    )
    return [Finding("scorer", sentence, {"declared": row.value, "p": p})]


def _about_choice(case: Case, sentence: str) -> Finding:
    row = case.choice.row
    numbers = {"value": row.value, "difference": row.difference, "p": row.p, "metric": case.table.metric}
    return Finding("scorer", sentence, numbers)


def _judgments(case: Case) -> str:
    return ", on judgments that are made, not human" if case.table.task.get("judgments_made") else ""
