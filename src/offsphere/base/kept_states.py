"""Where the states of finished shards wait in the user's cache for the result: a folder a question, of any size.

The cache of audits is bounded, since it can cost time alone. These states are what a killed run goes on from: nothing
removes them but the result itself, the user, and a week in which nobody asked again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from offsphere.base.cache_home import cache_home
from offsphere.base.cached_folders import cached_folders, in_use, remove_folder, remove_leftovers
from offsphere.base.question_cache import WEEK, allowed_size, name_of_question


def states_home() -> Path:
    """The folder of the states of all questions whose runs have not ended."""
    return cache_home() / "states"


@contextmanager
def states_of_question(key: str) -> Iterator[Path | None]:
    """Give the folder of the states of a question; nobody removes it while it is in use.

    Args:
        key: A digest of everything that the question is.

    Yields:
        The folder; nothing where the user allows the cache no size at all.

    Raises:
        ParameterError: The size that the user wrote is none.
    """
    keeps = allowed_size() > 0
    _forget_old()
    if not keeps:
        yield None
        return
    folder = states_home() / name_of_question(key)
    with in_use(folder):
        yield folder


def _forget_old() -> None:
    """Remove the states of runs that nobody took up again for a week."""
    remove_leftovers(states_home())
    for folder in cached_folders(states_home()):
        if folder.used < time.time() - WEEK:
            remove_folder(folder.path)
