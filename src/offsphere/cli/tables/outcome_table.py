"""What the training of an encoder came to, as a table for people."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from offsphere.learning.encoders.outcome import TrainingOutcome
from offsphere.wording.written_numbers import chance_alone


def outcome_table(outcome: TrainingOutcome) -> Table:
    """The value before and after, as the model was trained and by cosine."""
    split = f" ({outcome.task['split']})" if outcome.task.get("split") else ""
    title = Text(f"{outcome.task['name']}{split}", style="bold")
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    heads = [
        "scored",
        outcome.metric,
        f"95 % interval\nof {outcome.metric}",
        "difference\nfrom before",
        "95 % interval\nof difference",
        "p",
    ]
    for column, head in enumerate(heads):
        table.add_column(head, justify="left" if column == 0 else "right", no_wrap=True)
    for row in outcome.rows:
        cells = [row.name, f"{row.value:.4f}", f"{row.low:.4f} {row.high:.4f}"]
        if row.gain is not None:
            gain = row.gain
            cells += [f"{gain.difference:+.4f}", f"{gain.low:+.4f} {gain.high:+.4f}", chance_alone(gain.p)]
        table.add_row(*map(Text, cells))
    return table
