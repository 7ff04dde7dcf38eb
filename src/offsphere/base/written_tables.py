"""Rows of values as others want them: a pandas table, CSV, and a LaTeX table that can stand in a paper."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from offsphere.base.extras import load_extra

if TYPE_CHECKING:
    import pandas as pd

Records = Sequence[Mapping[str, Any]]

# signs that mean something to LaTeX, one by one, so that what replaces one is not replaced again
LATEX_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
}


def pandas_of(rows: Records) -> pd.DataFrame:
    """Rows as a pandas table; a value that a row has not is missing there.

    Args:
        rows: Values by their names.

    Returns:
        A table with a column for every name that occurs, in the order of their first appearance.

    Raises:
        MissingExtraError: Without pandas.
    """
    pandas = load_extra("pandas")
    table: pd.DataFrame = pandas.DataFrame([dict(row) for row in rows], columns=columns_of(rows))
    return table


def csv_of(rows: Records) -> str:
    """Rows as CSV with a header; a value that a row has not, or that is none, is empty.

    Args:
        rows: Values by their names.

    Returns:
        The text.

    Example:
        >>> print(csv_of([{"step": 0, "loss": None}, {"step": 5, "loss": 0.5}]))
        step,loss
        0,
        5,0.5
        <BLANKLINE>
    """
    text = io.StringIO()
    columns = columns_of(rows)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([["" if row.get(name) is None else row[name] for name in columns] for row in rows])
    return text.getvalue()


def latex_of(rows: Records, columns: Sequence[str] | None = None) -> str:
    r"""Rows as a LaTeX table in the style of booktabs; numbers have four digits and stand to the right.

    Args:
        rows: Values by their names.
        columns: Which of them, in this order; all without.

    Returns:
        A tabular environment.

    Example:
        >>> print(latex_of([{"variant": "cosine_a", "value": 0.51234}]))
        \begin{tabular}{lr}
        \toprule
        variant & value \\
        \midrule
        cosine\_a & 0.5123 \\
        \bottomrule
        \end{tabular}
        <BLANKLINE>
    """
    chosen = list(columns) if columns is not None else columns_of(rows)
    right = ["r" if all(_is_number(row.get(name)) for row in rows) else "l" for name in chosen]
    lines = [rf"\begin{{tabular}}{{{''.join(right)}}}", r"\toprule", _latex_line([_escaped(name) for name in chosen])]
    lines += [r"\midrule", *(_latex_line([_cell(row.get(name)) for name in chosen]) for row in rows)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def columns_of(rows: Records) -> list[str]:
    """The names that occur in rows, in the order of their first appearance."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _latex_line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _cell(value: Any) -> str:
    """A value as it stands in a LaTeX table; nothing where there is none."""
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return ""
    return f"{value:.4g}" if isinstance(value, float) else _escaped(str(value))


def _escaped(text: str) -> str:
    """A text in which no sign means anything to LaTeX."""
    return "".join(LATEX_SIGNS.get(sign, sign) for sign in text)
