"""How a result shows itself in a notebook: a few sentences and a table, and the same rows as a data frame.

Charts and pages of a result are made by the report, a room above all results, which none of them may import. So there
is a slot here with what the report must do, and the front door, which knows every room, fills it.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

from offsphere.base.extras import load_extra


class NotebookView(NamedTuple):
    """What a notebook shows of a result."""

    sentences: Sequence[str]
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    left_out: int = 0  # rows that are not shown


class ReportMaker(Protocol):
    """What the report makes of a result."""

    def chart(self, result: InNotebook, name: str | None) -> Any:
        """Draw a figure: a chart of Altair."""
        ...

    def page(self, result: InNotebook, path: str | Path, engine: str | None) -> Path:
        """Write the report of an audit, and say where it is."""
        ...


class InNotebook:
    """What results share: they say what a notebook shows, and which rows they have."""

    __slots__ = ()

    report: ClassVar[ReportMaker]  # filled by ``offsphere/__init__.py``

    def notebook_view(self) -> NotebookView:
        """Say what a notebook shows."""
        raise NotImplementedError

    def records(self) -> list[dict[str, Any]]:
        """Give every row with its numbers, as a data frame takes them.

        Returns:
            A dictionary a row, all with the same keys.
        """
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """The sentences and the table; every text is escaped."""
        return view_as_html(self.notebook_view())

    def to_pandas(self) -> Any:
        """Give the rows as a data frame of pandas.

        Returns:
            A row for each of ``records()``.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        return load_extra("pandas").DataFrame(self.records())

    def to_polars(self) -> Any:
        """Give the rows as a data frame of polars.

        Returns:
            A row for each of ``records()``.

        Raises:
            MissingExtraError: polars is not installed.
        """
        return load_extra("polars").DataFrame(self.records(), infer_schema_length=None)

    def plot(self, name: str | None = None) -> Any:
        """Draw what the report of an audit draws.

        Args:
            name: Which figure; the first there is unless said.

        Returns:
            A chart of Altair, which a notebook shows.

        Raises:
            UnknownNameError: There is no figure of that name; the error lists those that there are.
        """
        return self.report.chart(self, name)


def view_as_html(view: NotebookView) -> str:
    """Write a view as HTML.

    Args:
        view: Sentences, and perhaps a table.

    Returns:
        Markup; what came from the data is text in it.

    Example:
        >>> from offsphere.base.in_notebook import NotebookView, view_as_html
        >>> view_as_html(NotebookView(["Keep <b>."]))
        '<p><strong>Keep &lt;b&gt;.</strong></p>'
    """
    first, *others = view.sentences or [""]
    parts = [f"<p><strong>{escape(first)}</strong></p>", *(f"<p>{escape(sentence)}</p>" for sentence in others)]
    if view.rows:
        heads = "".join(f"<th>{escape(head)}</th>" for head in view.heads)
        cells = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in view.rows]
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        parts.append(f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>")
    if view.left_out:
        parts.append(f"<p>... and {view.left_out:,} more rows.</p>")
    return "".join(parts)
