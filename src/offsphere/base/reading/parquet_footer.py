"""What a parquet file says of its columns, read from its footer without the parquet library.

The library ends the whole process where the description of a piece of a column is damaged, so it is not asked.
The footer is Thrift's compact protocol (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md);
the numbers of fields are those of parquet.thrift (https://github.com/apache/parquet-format).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from offsphere.base.digests import digest_of
from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import open_file

MAGIC, TAIL = b"PAR1", 8
STOP, TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(13)
DEEPEST = 32  # structs in one another
SHIFT, LOW, MORE, LONG = 7, 0x7F, 0x80, 15
LONGEST_NUMBER = 70  # bits
ROW_GROUPS, COLUMNS, DESCRIPTION = 4, 1, 3
PATH, VALUES, UNPACKED, PACKED = 3, 5, 6, 7


class ColumnChunk(NamedTuple):
    """A piece of a column: the first name of its path, how many values it has, and its bytes unpacked and packed."""

    column: str
    values: int
    unpacked: int
    packed: int


def column_chunks(path: Path) -> list[ColumnChunk]:
    """Read what the footer of a parquet file says of every piece of its columns.

    Args:
        path: The file.

    Returns:
        The pieces, group of rows by group of rows.

    Raises:
        DataError: It has no footer that can be read.
    """
    try:
        return list(_chunks_of(_Footer(_footer_bytes(path)).struct()))
    except (IndexError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path} is damaged: its footer cannot be read") from error


def footer_digest(path: Path) -> str:
    """A digest of the footer of a parquet file: of where each piece of a column is, how large, and within which bounds.

    Raises:
        DataError: It has no footer that can be read.
    """
    try:
        return digest_of([_footer_bytes(path)])
    except ValueError as error:
        raise DataError(f"{path} is damaged: its footer cannot be read") from error


def _footer_bytes(path: Path) -> bytes:
    with open_file(path) as file:
        size = file.seek(0, 2)
        file.seek(max(size - TAIL, 0))
        tail = file.read(TAIL)
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] != MAGIC or length > size - TAIL:
            raise ValueError
        file.seek(size - TAIL - length)
        return bytes(file.read(length))


def _chunks_of(footer: dict[int, Any]) -> Iterator[ColumnChunk]:
    for group in footer[ROW_GROUPS]:
        for column in group[COLUMNS]:
            said = column[DESCRIPTION]
            numbers = [int(said[field]) for field in (VALUES, UNPACKED, PACKED)]
            if min(numbers) < 0:
                raise ValueError
            yield ColumnChunk(said[PATH][0].decode(), *numbers)


class _Footer:
    """A reader of the compact protocol over bytes that may be hostile: an IndexError or a ValueError ends it."""

    def __init__(self, content: bytes) -> None:
        self.content, self.offset, self.depth = content, 0, 0

    def struct(self) -> dict[int, Any]:
        """Read a struct: values by the numbers of their fields."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise ValueError
        fields: dict[int, Any] = {}
        number = 0
        while head := self.byte():
            kind = head & 15
            number = number + (head >> 4) if head >> 4 else self.signed()
            fields[number] = kind == TRUE if kind in (TRUE, FALSE) else self.value(kind)
        self.depth -= 1
        return fields

    def value(self, kind: int) -> Any:
        """Read one value of a type."""
        if kind in (TRUE, FALSE, BYTE):
            return self.byte()
        if kind in (I16, I32, I64):
            return self.signed()
        if kind in (DOUBLE, BINARY):
            return self.taken(TAIL if kind == DOUBLE else self.unsigned())
        if kind in (LIST, SET):
            return self.several()
        if kind == MAP:
            return self.pairs()
        if kind == STRUCT:
            return self.struct()
        raise ValueError

    def several(self) -> list[Any]:
        """Read a list or a set of values of one type."""
        head = self.byte()
        count = self.unsigned() if head >> 4 == LONG else head >> 4
        return [self.value(head & 15) for _ in range(self.checked(count))]

    def pairs(self) -> list[tuple[Any, Any]]:
        """Read a map, of which nothing is asked here."""
        count = self.checked(self.unsigned())
        kinds = self.byte() if count else 0
        return [(self.value(kinds >> 4), self.value(kinds & 15)) for _ in range(count)]

    def checked(self, count: int) -> int:
        """Refuse more values than there are bytes."""
        if count > len(self.content) - self.offset:
            raise ValueError
        return count

    def taken(self, count: int) -> bytes:
        """Take so many bytes."""
        self.offset += self.checked(count)
        return self.content[self.offset - count : self.offset]

    def byte(self) -> int:
        """Take the next byte as a number."""
        self.offset += 1
        return self.content[self.offset - 1]

    def unsigned(self) -> int:
        """Read a number of seven bits a byte."""
        number = shift = 0
        while True:
            byte = self.byte()
            number |= (byte & LOW) << shift
            shift += SHIFT
            if byte < MORE:
                return number
            if shift >= LONGEST_NUMBER:
                raise ValueError

    def signed(self) -> int:
        """Read a number whose last bit is its sign."""
        number = self.unsigned()
        return (number >> 1) ^ -(number & 1)
