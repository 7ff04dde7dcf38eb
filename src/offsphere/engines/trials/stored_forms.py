"""In which form an engine keeps numbers, told from vectors that were put in and read back."""

from __future__ import annotations

import numpy as np

from offsphere.base.arrays import Rows

SAME_DIRECTION = 1e-5
ROUNDING = 1e-6  # of the largest number
AUGMENTED = "augmented"


def stored_form_of(given: Rows, back: Rows) -> str:
    """Say what became of vectors.

    Args:
        given: As they were put in.
        back: As they were read back.

    Returns:
        ``as they were`` (perhaps ``but for the last digit``), ``normalised``, ``float16``, ``bfloat16``, ``augmented``
        where numbers were added, or ``changed`` where it is none of these.

    Example:
        >>> import numpy as np
        >>> from offsphere.engines.trials.stored_forms import stored_form_of
        >>> rows = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
        >>> stored_form_of(rows, rows), stored_form_of(rows, rows.astype(np.float16).astype(np.float32))
        ('as they were', 'float16')
    """
    if given.shape[1] != back.shape[1]:
        return AUGMENTED if back.shape[1] > given.shape[1] else "changed"
    lengths = np.linalg.norm(given, axis=1, keepdims=True)
    unit = np.divide(given, lengths, out=np.zeros_like(given), where=lengths > 0)
    half, short = given.astype(np.float16).astype(np.float32), _bfloat16(given)
    forms = {
        "as they were": np.array_equal(given, back),
        "as they were, but for the last digit": relative_error(given, back) < ROUNDING,
        "normalised": np.abs(unit - back).max() < SAME_DIRECTION,
        "float16": np.array_equal(half, back),
        "bfloat16": np.array_equal(short, back),
        "about float16": np.abs(half - back).max() <= 2 * np.abs(given - half).max(),
        "about bfloat16": np.abs(short - back).max() <= 2 * np.abs(given - short).max(),
    }
    return next((form for form, fits in forms.items() if fits), "changed")


def _bfloat16(rows: Rows) -> Rows:
    """Round to the nearest number with eight bits of fraction, as bfloat16 does; ties to even."""
    bits = np.ascontiguousarray(rows, np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return rounded.astype(np.uint32).view(np.float32).reshape(rows.shape)


def relative_error(given: Rows, back: Rows) -> float:
    """The largest change of a number, over the largest number."""
    return float(np.abs(given - back).max() / (np.abs(given).max() or 1.0))
