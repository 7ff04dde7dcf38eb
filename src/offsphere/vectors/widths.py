"""Two widths: vectors of two models, which nothing compares until a map brings them together."""

from __future__ import annotations

from offsphere.base.errors import TwoWidthsError


def refuse_two_widths(queries: int, documents: int) -> None:
    """Say in one line that vectors of two widths cannot be compared, and what makes them comparable.

    Args:
        queries: How many numbers a query vector has.
        documents: How many numbers a document vector has.

    Raises:
        TwoWidthsError: The two are not the same.

    Example:
        >>> refuse_two_widths(256, 256)
    """
    if queries != documents:
        raise TwoWidthsError(
            f"query vectors have {queries} dimensions, document vectors {documents}: there is nothing to compare until "
            "a map brings them together: learn one with offsphere adapt, or use one model for both"
        )
