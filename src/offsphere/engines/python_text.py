"""A text as it stands in printed Python, whatever is in it: paths and names have quotes, backslashes and any letter."""

from __future__ import annotations

import json
from pathlib import PurePath


def python_text(text: object) -> str:
    r"""Write a text, or a path, as Python reads it, in double quotes.

    Example:
        >>> from offsphere.engines.python_text import python_text
        >>> print(python_text('my "old" docs'))
        "my \"old\" docs"
    """
    written = text.as_posix() if isinstance(text, PurePath) else str(text)
    return json.dumps(written, ensure_ascii=False)
