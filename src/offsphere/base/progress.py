"""How long work tells how far it is."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called now and then with how much is done, how much there is in all, and what to say beside it."""

    def __call__(self, done: int, total: int, said: str = "", /) -> None:
        """Show how far it is."""
        ...
