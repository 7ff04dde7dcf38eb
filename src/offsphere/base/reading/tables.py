"""Text files, tables and JSON lines: they give line numbers with everything, for errors that name them."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator
from math import isfinite
from pathlib import Path
from typing import Any

from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import MOST_BYTES, cannot_parse, open_unpacked, reading
from offsphere.base.reading.json_files import parse_json

LARGEST = 1e100  # a grade or a score: sums and squares of such numbers are numbers still


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON-lines file with their line numbers; blank lines are skipped."""
    for line_number, line in text_lines(path):
        value = parse_json(line, f"{path}:{line_number}")
        if not isinstance(value, dict):
            raise DataError(f"{path}:{line_number}: expected a JSON object, found {type(value).__name__}")
        yield line_number, value


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 file with their numbers, from one; without line ends, and without blank lines."""
    with _text(path) as stream:
        for line_number, line in enumerate(_lines(stream, path), 1):
            if line.strip():
                yield line_number, line.rstrip("\r\n")


def _text(path: Path, newline: str | None = None) -> io.TextIOWrapper:
    """Open a file as UTF-8 text, unpacked as it is read where its name ends in .gz or .zst."""
    return io.TextIOWrapper(open_unpacked(path), encoding="utf-8-sig", newline=newline)


def _lines(stream: io.TextIOWrapper, path: Path) -> Iterator[str]:
    """The lines of a stream, each of a bounded length, so that a file without line ends does not fill the memory."""
    try:
        while line := stream.readline(MOST_BYTES):
            if len(line) == MOST_BYTES:
                raise DataError(f"{path} has a line of more than {MOST_BYTES:,} characters: it is no such file")
            yield line
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start})") from error
    except OSError as error:
        raise cannot_parse(path, "a text file", error) from error


def table_rows(path: Path) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The header of a TSV or CSV file in lower case, and its rows, each of as many fields, with their line numbers.

    A CSV file may quote its fields; in a TSV file a quotation mark is a character like any other.
    """
    rows = _rows(path)
    first = next(rows, None)
    if first is None:
        raise DataError(f"{path} is empty")
    header = [name.strip().lower() for name in first[1]]
    return header, _of_width(path, rows, len(header))


def first_row_as_it_stands(path: Path) -> tuple[int, list[str]]:
    """The first row of a table that has no header, as it stands, capitals and all, with its line number.

    Raises:
        DataError: There is none.
    """
    for first in _rows(path):
        return first
    raise DataError(f"{path} is empty")


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    return _csv_rows(path) if path.suffix.lower() == ".csv" else _tsv_rows(path)


def _of_width(path: Path, rows: Iterator[tuple[int, list[str]]], width: int) -> Iterator[tuple[int, list[str]]]:
    for line_number, row in rows:
        if len(row) != width:
            raise DataError(f"{path}:{line_number}: {len(row)} fields, the header has {width}")
        yield line_number, row


def _tsv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a TSV file with their line numbers; empty rows are skipped."""
    for line_number, line in text_lines(path):
        yield line_number, line.split("\t")


def _csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file with the number of the line on which each ends; empty rows are skipped."""
    with reading(path, "a CSV file"), _text(path, newline="") as stream:
        csv.field_size_limit(MOST_BYTES)  # a vector may be longer than its default; lines are bounded already
        reader = csv.reader(_lines(stream, path), strict=True)
        for row in reader:
            if row:
                yield reader.line_num, row


def number(text: str, where: str, what: str) -> float:
    """Read a finite number; the error says ``what`` was expected and ``where`` it stands.

    Raises:
        DataError: It is no number, written as numbers are; it is not finite, or larger than anybody means.
    """
    try:
        value = float(text)
    except (TypeError, ValueError) as error:
        raise DataError(f"{where}: {what} {text!r} is not a number") from error
    if not isfinite(value):
        raise DataError(f"{where}: {what} {text!r} is not finite")
    if not text.isascii() or "_" in text:  # Python takes 1_0 for ten, and digits of every script
        raise DataError(f"{where}: {what} {text!r} is not a number")
    if abs(value) > LARGEST:
        raise DataError(f"{where}: {what} {text!r} is too large: give numbers up to {LARGEST:g}")
    return value


def refuse_repeated(path: Path, header: list[str], columns: Collection[str]) -> None:
    """Raise DataError where a column that is needed stands in a header twice: nobody knows which is meant."""
    repeated = [name for name in header if name in columns and header.count(name) > 1]
    if repeated:
        raise DataError(f"{path}: {header.count(repeated[0])} columns are called {repeated[0]!r}: keep one")
