"""Numbers as they stand in names of scorers: as short as possible, and read back as the same number."""

from __future__ import annotations


def number_text(value: float) -> str:
    """Write a number as short as reads back the same, without the plus sign that joins a scorer's parts.

    Args:
        value: any finite number.

    Returns:
        Its text: ``1`` for 1.0, ``0.75`` for 0.75, ``1e16`` for 1e+16.
    """
    return repr(float(value)).removesuffix(".0").replace("e+", "e")
