"""A study for people: the table, what it says, and what could not be audited."""

from __future__ import annotations

import typer

from offsphere.auditing.study.run_study import Study
from offsphere.auditing.study.study_row import Change, StudyRow
from offsphere.cli.paragraphs import echo_items
from offsphere.cli.shape_tables import print_rows, table_console
from offsphere.wording.written_numbers import signed

HEADS = ("task", "model", "cosine", "dot\n- cosine", "recommended", "its gain", "d", "d beside\nrivals")
MORE = ("spread of\nlengths", "documents\nalone", "curve of\nlength", "at\nmost")


def print_study(study: Study) -> None:
    """Print the table, the sentences under it, and the failures."""
    print_rows(table_console(), "tasks and models", [*HEADS, *MORE], [_cells(row) for row in study.rows])
    echo_items("Together", study.meta.sentences)
    echo_items("Could not be audited", (f"{label}: {reason}" for label, reason in study.failed.items()))
    typer.echo()


def _cells(row: StudyRow) -> list[str]:
    numbers = (row.d, row.d_within, row.length_variation)
    return [
        row.task,
        row.model.rsplit("/", 1)[-1].rsplit(":", 1)[-1],
        f"{row.cosine:.4f}" if row.cosine is not None else "-",
        _gain(row.dot),
        row.recommended,
        _gain(row.scorers.get(row.recommended_row)) if row.recommended != "cosine" else "-",
        *(f"{value:.2f}" if value is not None else "-" for value in numbers),
        _gain(row.ceiling),
        _gain(row.ceiling_length),
        signed(row.ceiling_most) if row.ceiling_most is not None else "-",
    ]


def _gain(change: Change | None) -> str:
    """A gain, with a star where it is sure."""
    if change is None or change["gain"] is None:
        return "-"
    return signed(change["gain"]) + ("*" if change["p"] is not None and change["p"] < 0.05 else "")  # noqa: PLR2004
