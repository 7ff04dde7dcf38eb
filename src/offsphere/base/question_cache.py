"""What audits searched, kept in the user's cache: a folder a question, and all of them within a bounded size."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from offsphere.base.cache import Memo
from offsphere.base.cache_home import cache_home
from offsphere.base.cached_folders import CachedFolder, cached_folders, in_use, remove_folder, remove_leftovers
from offsphere.base.digests import digest_of
from offsphere.base.errors import ParameterError
from offsphere.base.version import code_version

SIZE = "OFFSPHERE_CACHE_SIZE"  # the variable that bounds the cache
USUAL_SIZE = 2 * 10**9  # bytes
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
WEEK = 7 * 86_400  # seconds after which what other code kept is of no use to anybody
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*([KMGT]?B|)", re.IGNORECASE)


def questions_home() -> Path:
    """The folder of all questions that audits have asked."""
    return cache_home() / "audits"


@contextmanager
def question_memo(key: str) -> Iterator[Memo]:
    """Give the memo of a question; nobody removes it while it is in use.

    Before and after, what was not used for longest is removed until all fits into the size that the user allows.

    Args:
        key: A digest of everything that the question is.

    Yields:
        The memo; one that forgets where the user allows no size at all.

    Raises:
        ParameterError: The size that the user wrote is none.
    """
    most = allowed_size()
    if not most:
        trim(most)
        yield Memo()
        return
    folder = questions_home() / name_of_question(key)
    with in_use(folder):  # before others are removed, or this one might be
        trim(most)
        yield Memo(folder, most)
    trim(most)


def allowed_size() -> int:
    """How many bytes the questions may have in all: 2 GB, or what ``$OFFSPHERE_CACHE_SIZE`` says.

    Raises:
        ParameterError: The variable holds no size.
    """
    text = os.environ.get(SIZE, "").strip()
    if not text:
        return USUAL_SIZE
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ParameterError(f"{SIZE} = {text!r} is no size: write 2GB, 500MB, or 0 to keep nothing")
    return int(float(match.group(1)) * UNITS[match.group(2).upper()])


def trim(most: int) -> None:
    """Remove questions until the others have at most so many bytes.

    Those of other code go first, and after a week in any case; then those that were not used for longest.
    """
    remove_leftovers(questions_home())
    questions = cached_folders(questions_home())
    questions.sort(key=is_of_this_code)  # and among those as they were used
    total = sum(question.size for question in questions)
    for question in questions:
        useless = not is_of_this_code(question) and question.used < time.time() - WEEK
        if (total > most or useless) and remove_folder(question.path):
            total -= question.size


def is_of_this_code(question: CachedFolder) -> bool:
    """Whether this version of the code kept a question: others never look at it."""
    return question.path.name.startswith(f"{_this_code()}-")


def name_of_question(key: str) -> str:
    """What the folder of a question is called: by what it is, and by this version of the code."""
    return f"{_this_code()}-{key}"


def _this_code() -> str:
    """How the names of questions begin that this version of the code keeps."""
    return digest_of([code_version()])[:8]
