"""What is kept when somebody presses Ctrl-C is told by whoever keeps it; the command line shows it as its last line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def told_when_interrupted(what_is_kept: Callable[[], str]) -> Iterator[None]:
    """Add to an interruption of the work inside what of it is kept, and how to go on.

    Args:
        what_is_kept: Gives a sentence without a full stop; it is asked only when the work was interrupted.

    Example:
        >>> from offsphere.base.interruption import told_when_interrupted
        >>> try:
        ...     with told_when_interrupted(lambda: "3 of 7 blocks are safe"):
        ...         raise KeyboardInterrupt
        ... except KeyboardInterrupt as interruption:
        ...     interruption.__notes__
        ['3 of 7 blocks are safe']
    """
    try:
        yield
    except KeyboardInterrupt as interruption:
        interruption.add_note(what_is_kept())
        raise
