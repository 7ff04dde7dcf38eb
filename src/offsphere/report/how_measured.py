"""How the numbers of a comparison came about, in sentences for the end of a page."""

from __future__ import annotations

from offsphere.comparison.table import Comparison
from offsphere.comparison.units import unit_of
from offsphere.statistics.metrics import parse_metric
from offsphere.statistics.significance import ALPHA


def how_measured(table: Comparison) -> list[str]:
    """Say how scorers were measured, tuned, tested and chosen.

    Args:
        table: The comparison.

    Returns:
        Sentences; each is true of this comparison.
    """
    unit = unit_of(table.task)
    over = ", over all documents" if unit == "queries" else ""
    pooled = parse_metric(table.metric).kind == "pooled"
    values = f"Free parameters were chosen by {table.folds}-fold cross-validation, and values are of held-out {unit}."
    test = "the same bootstrap" if pooled else "a paired randomisation test, random signs for the differences"
    sentences = [
        f"Every scorer was measured exactly{over}. {values} Seed {table.seed}.",
        f"Intervals of values come from a bootstrap, p from {test}.",
        f"The interval of a difference belongs to its p: it leaves out 0 exactly where that is below {ALPHA}.",
    ]
    planned = [row.name for row in table.rows if row.planned]
    others = sum(row.p is not None and not row.planned for row in table.rows)
    if planned:
        what = (
            "is a planned comparison: its p stands" if len(planned) == 1 else "are planned comparisons: their p stand"
        )
        sentences.append(f"{' and '.join(planned)} against {table.baseline} {what} alone.")
    if others:
        sentences.append(
            f"The p of the other {others} rows {'are' if others > 1 else 'is'} corrected together, by step-down max-T "
            "(Westfall & Young 1993)."
        )
    if table.procedure is not None:
        sentences.append(
            f"The choice was tested as a whole: made on some {unit} and judged on others that took no part in the "
            f"choice, in {table.procedure.repeats} divisions into {table.procedure.folds} parts. One thing is tested, "
            "so its p needs no correction."
        )
    sentences.append(f"A gain below {table.worth:.4g} counts as too small to matter.")
    return sentences
