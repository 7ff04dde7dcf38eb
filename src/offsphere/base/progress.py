"""How work that takes long reports how far it is, to whoever shows it."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called now and then with how much is done, how much there is in all, and what to say beside it."""

    def __call__(self, done: int, total: int, note: str = "", /) -> None:
        """Show that ``done`` of ``total`` steps are done."""
        ...
