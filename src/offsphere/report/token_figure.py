"""The figure of token lengths: what each row over tokens gains by them, against itself without."""

from __future__ import annotations

from offsphere.auditing.run import Audit
from offsphere.report.figure import ACCENT, MUTED, SECOND, Figure, interval_marks, spec_of
from offsphere.wording.written_numbers import chance_alone, with_interval


def token_length_forest(audit: Audit) -> Figure | None:
    """What token lengths are worth wherever they are used; nothing where texts were not compared by their tokens."""
    contrasts = [row.contrast for row in audit.table.lists if row.contrast is not None]
    if not contrasts:
        return None
    metric = audit.table.metric
    kinds = {"it helps": "surely helps", "it hurts": "surely hurts", "no difference found": "not sure"}
    data = [
        {"what": one.name, "value": one.gain, "low": one.low, "high": one.high, "kind": kinds[one.verdict]}
        for one in contrasts
    ]
    colours = {"surely helps": ACCENT, "surely hurts": SECOND, "not sure": MUTED}
    caption = (
        "The same question one level down: each row that compares texts by their tokens and lets long tokens count "
        f"more, against itself with every token the same length. A point is what length adds in {metric}, its line the "
        "95 % interval."
    )
    chart = interval_marks(data, "what", f"{metric}, with token lengths less without", 0.0, colours)
    heads = ["row", "without lengths", "what length adds", "p, corrected", "so"]
    rows = [
        [one.name, one.without, with_interval(one.gain, one.low, one.high), chance_alone(one.p), one.verdict]
        for one in contrasts
    ]
    return Figure("token-length", "The length of tokens", caption, spec_of(chart, 26 * len(data) + 20), heads, rows)
