"""Learning dynamics as they come: a table on standard error, in a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

SHOWN = {
    "step": "step",
    "query_length": "query\nlength",
    "document_length": "document\nlength",
    "document_anisotropy": "anisotropy",
    "positive_mean": "cosine of\npositives",
    "negative_mean": "cosine of\nnegatives",
    "negative_variance": "variance of\nnegatives",
    "document_uniformity": "uniformity",
    "cohen_d": "Cohen's d",
    "document_exponent": "exponent",
    "scale": "scale",
}
ROWS = 12  # the last ones


@contextmanager
def live_table(*, quiet: bool = False) -> Iterator[Callable[[dict[str, Any]], None] | None]:
    """Yield a function that takes a row of the dynamics and shows it, or nothing where nobody watches."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

    rows: list[list[str]] = []

    def draw() -> Table:
        table = Table(box=None, pad_edge=False)
        for head in SHOWN.values():
            table.add_column(head, justify="right")
        for row in rows[-ROWS:]:
            table.add_row(*row)
        return table

    with Live(draw(), console=Console(stderr=True), auto_refresh=False) as live:

        def show(row: dict[str, Any]) -> None:
            rows.append([_cell(row.get(name)) for name in SHOWN])
            live.update(draw(), refresh=True)

        yield show


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.3f}"
