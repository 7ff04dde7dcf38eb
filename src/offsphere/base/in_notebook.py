"""How a result shows itself in a notebook: a few sentences and a table, and the same rows as a data frame."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from offsphere.base.extras import load_extra
from offsphere.base.rooms_above import from_above


class NotebookView(NamedTuple):
    """What a notebook shows of a result."""

    sentences: Sequence[str]
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    left_out: int = 0  # rows that are not shown


class InNotebook:
    """What results share: they say what a notebook shows, and which rows they have."""

    __slots__ = ()

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
        return from_above("chart")(self, name)


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
