"""Ids and labels of data as a person sees them: they may be of any length, and hold what a terminal would obey."""

from __future__ import annotations

from offsphere.base.errors import cut, visible

LONGEST_ID = 100  # characters


def shown_id(name: str) -> str:
    r"""Write an id so that a table shows it: without its middle where it is long, what is no sign as an escape.

    Args:
        name: An id, or a label, as it stands in data.

    Returns:
        The same where it is an ordinary one. Who reads what a program printed should read its JSON instead.

    Example:
        >>> from offsphere.base.shown_ids import shown_id
        >>> print(shown_id("doc-1"), shown_id("\x1b[2Jdoc\n2"))
        doc-1 \x1b[2Jdoc\n2
        >>> len(shown_id("x" * 10_000_000)) < 110
        True
    """
    return visible(cut(name, LONGEST_ID))
