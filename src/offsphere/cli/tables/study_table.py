"""A study for people: the table, what it says, and what could not be audited."""

from __future__ import annotations

import typer

from offsphere.auditing.study.run_study import Study
from offsphere.auditing.study.study_row import MeasuredChange, StudyRow
from offsphere.cli.tables.paragraphs import echo_items
from offsphere.cli.tables.shape_tables import print_rows, table_console
from offsphere.statistics.significance import ALPHA
from offsphere.wording.written_numbers import signed

WORTH = ("task", "model", "metric", "cosine", "dot over\ncosine", "recommended", "that over\ncosine")
LEARNED = ("task", "model", "scorer", "value", "over\ncosine")
EXPLAINED = (
    "task",
    "model",
    "d of relevant\nlengths",
    "d beside\nrivals",
    "variation\nof lengths",
    "best boost a\ndocument",
    "boost by\nlength",
    "any boost\nat most",
)


def print_study(study: Study) -> None:
    """Print the tables, the sentences under them, and the failures."""
    console = table_console()
    print_rows(console, "what scorers are worth (* surely not chance)", WORTH, [_worth(row) for row in study.rows])
    print_rows(console, "what might explain it", EXPLAINED, [_explained(row) for row in study.rows])
    learned = [_adapter(row, name, change) for row in study.rows for name, change in row.learned.items()]
    if learned:
        print_rows(console, "adapters, trained on the train split, against cosine on the raw vectors", LEARNED, learned)
    echo_items("Together", study.meta.sentences)
    echo_items("Could not be audited", (f"{label}: {reason}" for label, reason in study.failed.items()))
    typer.echo()


def _worth(row: StudyRow) -> list[str]:
    value = f"{row.cosine:.4f}" if row.cosine is not None else "-"
    gain = _gain(row.scorers.get(row.recommended_row)) if row.recommended != "cosine" else "-"
    return [*_names(row), row.metric, value, _gain(row.dot), row.recommended, gain]


def _explained(row: StudyRow) -> list[str]:
    numbers = (row.d, row.d_within, row.length_variation)
    most = signed(row.ceiling_most) if row.ceiling_most is not None else "-"
    known = [f"{value:.2f}" if value is not None else "-" for value in numbers]
    return [*_names(row), *known, _gain(row.ceiling), _gain(row.ceiling_length), most]


def _adapter(row: StudyRow, name: str, change: MeasuredChange) -> list[str]:
    """The line of one adapter, or of the vectors as they are, which it is compared with."""
    value = f"{change['value']:.4f}" if change["value"] is not None else "-"
    return [*_names(row), name, value, _gain(change) if change["p"] is not None else "-"]


def _names(row: StudyRow) -> list[str]:
    """The task, and the last part of the model's name."""
    return [row.task, row.model.rsplit("/", 1)[-1].rsplit(":", 1)[-1]]


def _gain(change: MeasuredChange | None) -> str:
    """A gain, with a star where it is sure."""
    if change is None or change["gain"] is None:
        return "-"
    return signed(change["gain"]) + ("*" if change["p"] is not None and change["p"] < ALPHA else "")
