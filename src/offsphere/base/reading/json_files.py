"""JSON that comes in: bounded in size and depth, and texts that can be written again."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from offsphere.base.errors import DataError, cut, first_line
from offsphere.base.reading.file_access import MOST_BYTES, read_bounded

LONGEST_NAME = 100  # characters of a name that an error shows


def read_json(path: Path, most: int = MOST_BYTES) -> Any:
    """Read the value of a JSON file.

    Args:
        path: The file, in UTF-8.
        most: Bytes above which it is refused.

    Returns:
        Plain values.

    Raises:
        DataError: It is missing, too large, no JSON, or nested too deep.
    """
    return parse_json(read_bounded(path, most), str(path))


def read_json_object(path: Path, most: int = MOST_BYTES) -> dict[str, Any]:
    """Read a JSON file that holds one object, by name.

    Raises:
        DataError: It is missing, too large, no JSON, or holds something else than an object.
    """
    value = read_json(path, most)
    if not isinstance(value, dict):
        raise DataError(f"{path}: expected a JSON object, found {type(value).__name__}")
    return value


def parse_json(content: str | bytes, where: str) -> Any:
    """Parse JSON; the error says where it stands.

    Raises:
        DataError: It is no JSON, nested too deep, has a name twice in one object, of which nobody knows which value is
            meant, or holds a lone surrogate, which is half a character.
    """
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
        value = json.loads(text, object_pairs_hook=_object)
        if r"\ud" in text or r"\uD" in text:  # only an escape can make one: UTF-8 has none
            _has_whole_characters(value)
    except RecursionError as error:
        raise DataError(f"{where}: JSON nested too deep to read") from error
    except UnicodeEncodeError as error:
        raise DataError(f"{where}: a lone surrogate, half a character, stands in a text: mend or remove it") from error
    except _RepeatedNameError as error:
        raise DataError(
            f"{where}: an object has the name {cut(str(error), LONGEST_NAME)!r} twice: keep one of them"
        ) from error
    except ValueError as error:
        raise DataError(f"{where}: not JSON ({first_line(error)})") from error
    return value


class _RepeatedNameError(Exception):
    """A name that stands twice in one object."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of its names and values, each name once: Python's own reading takes the last of equal ones."""
    values = dict(pairs)
    if len(values) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise _RepeatedNameError(next(name for name, count in counts.items() if count > 1))
    return values


def _has_whole_characters(value: Any) -> None:
    """Raise UnicodeEncodeError where a text of the value cannot be written as UTF-8."""
    json.dumps(value, ensure_ascii=False).encode()
