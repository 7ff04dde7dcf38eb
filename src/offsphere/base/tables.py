"""Files of tables and JSON lines: which is of a split, and their lines with their numbers at hand for errors."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from offsphere.base.errors import DataError, NoSuchSplitError


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Objects of a JSON-lines file with their line numbers; blank lines are skipped."""
    for number, line in text_lines(path):
        try:
            value = json.loads(line)
        except ValueError as error:
            raise DataError(f"{path}:{number}: not a JSON object ({error}): mend or remove the line") from error
        if not isinstance(value, dict):
            raise DataError(f"{path}:{number}: expected a JSON object, found {type(value).__name__}")
        yield number, value


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, without their ends, with their numbers from one."""
    try:
        with path.open(encoding="utf-8-sig") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except FileNotFoundError as error:
        raise DataError(f"{path} does not exist") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start})") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error


def table_rows(path: Path) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The header of a TSV or CSV file and its rows with their line numbers.

    A CSV file may quote its fields; in a TSV file a quotation mark is a character like any other.
    """
    comma = path.suffix.lower() == ".csv"
    lines = _csv_rows(path) if comma else ((number, line.split("\t")) for number, line in text_lines(path))
    first = next(lines, None)
    if first is None:
        raise DataError(f"{path} is empty")
    return [name.strip() for name in first[1]], lines


def _csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream)
            for row in reader:
                if row:
                    yield reader.line_num, row
    except FileNotFoundError as error:
        raise DataError(f"{path} does not exist") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read as CSV: {error}") from error


def file_of_split(folder: Path, files: Mapping[str, Path], split: str | None) -> Path | None:
    """Of files by their split: that one, else test, else dev, else the only one; nothing where there is none."""
    if not files:
        return None
    if split is not None and split not in files:
        raise NoSuchSplitError(f"{folder} has no split {split!r}: there are {', '.join(files)}")
    chosen = split or next((name for name in ("test", "dev") if name in files), None)
    if chosen is None and len(files) > 1:
        raise DataError(f"{folder} has the splits {', '.join(files)}: choose one with --split")
    return files[chosen or next(iter(files))]


def number(text: str, place: str, what: str) -> float:
    """A finite number, or an error that says where it should have been."""
    try:
        value = float(text)
    except (TypeError, ValueError) as error:
        raise DataError(f"{place}: {what} {text!r} is not a number") from error
    if not isfinite(value):
        raise DataError(f"{place}: {what} {text!r} is not finite")
    return value
