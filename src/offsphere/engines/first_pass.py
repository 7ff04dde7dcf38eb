"""Bits first, numbers after: databases that find candidates by one bit a number, and rank them by the vectors."""

from __future__ import annotations

TIMES_K = 10
LEAST = 100


def candidates(k: int, effort: int | None) -> int:
    """How many documents the bits find, of which the vectors choose k.

    Args:
        k: How many documents a query gets.
        effort: How many candidates somebody asked for.

    Example:
        >>> from offsphere.engines.first_pass import candidates
        >>> candidates(10, None), candidates(30, None), candidates(10, 512)
        (100, 300, 512)
    """
    return max(k, effort) if effort is not None else max(TIMES_K * k, LEAST)
