"""How work that takes long reports how far it is, to whoever shows it."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called now and then with how much is done, how much there is in all, and what to say beside it."""

    def __call__(self, done: int, total: int, note: str = "", /) -> None:
        """Show that ``done`` of ``total`` steps are done; a total of 0 says that nobody knows how many there are."""
        ...


def say(progress: Progress | None, note: str) -> None:
    """Tell that work has begun whose end is not known, such as a test.

    Args:
        progress: Who is told; nobody where there is none.
        note: What is done now.
    """
    if progress is not None:
        progress(0, 0, note)


def in_phase(progress: Progress | None, phase: str) -> Progress | None:
    """Name the phase of the work before whatever it tells of itself.

    Args:
        progress: Who is told; nobody where there is none.
        phase: What is done in this phase.

    Returns:
        What the work of this phase tells how far it is.

    Example:
        >>> from offsphere.base.progress import in_phase, say
        >>> say(in_phase(lambda done, total, note="": print(done, total, note), "comparing"), "tests")
        0 0 comparing, tests
    """
    if progress is None:
        return None

    def show(done: int, total: int, note: str = "", /) -> None:
        progress(done, total, f"{phase}, {note}" if note else phase)

    return show
