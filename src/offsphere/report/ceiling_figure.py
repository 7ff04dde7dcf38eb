"""The figure of what documents alone can tell: each kind of number about a document, and what it gains over cosine."""

from __future__ import annotations

from offsphere.auditing.run import Audit
from offsphere.geometry.ceiling_options import LENGTH
from offsphere.report.figure import ACCENT, MUTED, SECOND, Figure, interval_marks, spec_of
from offsphere.statistics.significance import ALPHA
from offsphere.wording.ceiling_words import KINDS
from offsphere.wording.choice_words import gains_apart
from offsphere.wording.written_numbers import chance_alone, signed, with_interval


def ceiling_forest(audit: Audit) -> Figure | None:
    """What each kind of number gains on queries that it was not learned from; nothing where it was not measured."""
    ceiling = audit.shape.ceiling
    if ceiling is None:
        return None
    data = [
        {
            "what": KINDS[row.kind],
            "value": row.gain.value,
            "low": row.gain.low,
            "high": row.gain.high,
            "kind": "today's lengths" if row.kind == LENGTH else "surely gains" if row.better else "other",
        }
        for row in ceiling.rows
    ]
    colours = {"surely gains": ACCENT, "today's lengths": SECOND, "other": MUTED}
    caption = (
        "See whether any line lies wholly right of 0: that kind of number helps. A length can only say something "
        "about the document, whatever the query. So each document was given a number, "
        f"learned from the judgments of some queries and measured on others: a point is what that gains in "
        f"{ceiling.metric} over cosine, its line the 95 % interval that belongs to the corrected p: it leaves out 0 "
        f"exactly where p is below {ALPHA}. Nothing of the kind gains more than "
        f"{signed(ceiling.most)}. {ceiling.spread.sentence[0].upper()}{ceiling.spread.sentence[1:]}. "
        f"{gains_apart(choice=audit.table.procedure is not None, boost=True)}"
    )
    chart = interval_marks(data, "what", f"{ceiling.metric} over cosine", 0.0, colours)
    heads = ["what a document is given", "gain over cosine", "p, corrected", "folds that use it"]
    rows = [[KINDS[row.kind], with_interval(*row.gain), chance_alone(row.p), f"{row.used:.0%}"] for row in ceiling.rows]
    return Figure("ceiling", "What documents alone can tell", caption, spec_of(chart, 26 * len(data) + 20), heads, rows)
