"""Ids as one column of bytes: some twenty bytes each, where a list and a table of texts take a hundred and fifty.

Whoever divides a corpus must look at the ids of all its documents once. They stay as they lie in their file: their
UTF-8 bytes, one behind the other, and where each begins. What is asked of all of them is asked by hashes, and what
hashes say is compared letter by letter before it is believed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Index

TOGETHER = 1 << 14  # ids that are hashed, compared, or made texts of at once
MULTIPLIER = 0x9E3779B97F4A7C15  # odd, so that no letter of a long id is forgotten
DOUBTS = 100_000  # hashes that stand there twice which are looked into

Hashes = NDArray[np.uint64]


class IdPart(NamedTuple):
    """Ids one behind the other."""

    letters: NDArray[np.uint8]  # of all of them, in UTF-8
    starts: NDArray[np.int64]  # of each, and the end of the last

    def piece(self, start: int, stop: int) -> IdPart:
        """Some of them; their letters are not copied."""
        return IdPart(self.letters, self.starts[start : stop + 1])

    def texts(self) -> list[str]:
        """Each as a text."""
        first, last = int(self.starts[0]), int(self.starts[-1])
        content = self.letters[first:last].tobytes()
        ends = (self.starts - first).tolist()
        if content.isascii():
            text = content.decode("ascii")
            return [text[a:b] for a, b in pairwise(ends)]
        return [content[a:b].decode() for a, b in pairwise(ends)]

    def equals(self, other: IdPart) -> bool:
        """Whether they are the same as others, which are as many."""
        mine, its = (part.letters[part.starts[0] : part.starts[-1]] for part in (self, other))
        return np.array_equal(np.diff(self.starts), np.diff(other.starts)) and np.array_equal(mine, its)

    def hashes(self) -> Hashes:
        """A number for each, the same for the same letters: their polynomial, modulo a power of two."""
        first, last = int(self.starts[0]), int(self.starts[-1])
        ends = self.starts - first
        rising, falling = _powers(1 << (last - first).bit_length())
        sums = np.zeros(last - first + 1, np.uint64)
        np.cumsum((self.letters[first:last] + np.uint64(1)) * rising[: last - first], out=sums[1:])
        # each began at a power of its own, which is divided out
        return (sums[ends[1:]] - sums[ends[:-1]]) * falling[ends[:-1]]


class IdColumn(Sequence[str]):
    """Ids in their order, a sequence of texts like any other; ``of`` makes one.

    Example:
        >>> from offsphere.data.id_column import IdColumn
        >>> ids = IdColumn.of(["d1", "d2", "d3"])
        >>> ids[1], ids == ["d1", "d2", "d3"], ids.rows_of(["d3", "d9"])
        ('d2', True, {'d3': 2})
    """

    __slots__ = ("firsts", "parts")

    def __init__(self, parts: Iterable[IdPart]) -> None:
        self.parts = [part for part in parts if len(part.starts) > 1]
        self.firsts = np.cumsum([0, *(len(part.starts) - 1 for part in self.parts)])

    @classmethod
    def of(cls, ids: Iterable[str]) -> IdColumn:
        """Make a column of texts, which need not be in memory together.

        Args:
            ids: In their order.

        Raises:
            UnicodeEncodeError: One has half a character, which no file of UTF-8 text could have.
        """
        return ids if isinstance(ids, IdColumn) else cls(_parts_of(iter(ids)))

    @classmethod
    def joined(cls, columns: Iterable[Iterable[str]]) -> IdColumn:
        """Put columns one below the other; none of them is copied.

        Args:
            columns: Of ids, in their order.
        """
        return cls(part for column in columns for part in cls.of(column).parts)

    def __len__(self) -> int:
        """How many there are."""
        return int(self.firsts[-1])

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...
    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        """The id in a row, or those in some rows."""
        if isinstance(row, slice):
            start, stop, step = row.indices(len(self))
            if step < 0:
                return list(self)[row]
            return [text for piece in self.pieces(start, max(start, stop)) for text in piece.texts()][::step]
        number = range(len(self))[row]
        part = int(np.searchsorted(self.firsts, number, side="right")) - 1
        within = number - int(self.firsts[part])
        return self.parts[part].piece(within, within + 1).texts()[0]

    def __iter__(self) -> Iterator[str]:
        """Each in its turn."""
        for piece in self.pieces():
            yield from piece.texts()

    def __eq__(self, other: object) -> bool:
        """Whether they are the ids of another sequence, in its order."""
        if isinstance(other, str) or not isinstance(other, Sequence):
            return NotImplemented
        if len(self) != len(other):
            return False
        if not isinstance(other, IdColumn):
            rest = iter(other)
            return all(texts == list(islice(rest, len(texts))) for texts in map(IdPart.texts, self.pieces()))
        cuts = np.union1d(self.firsts, other.firsts).tolist()
        pairs = (zip(self.pieces(*cut), other.pieces(*cut), strict=True) for cut in pairwise(cuts))
        return all(mine.equals(its) for both in pairs for mine, its in both)

    __hash__ = None  # type: ignore[assignment]  # a list has none either

    def __repr__(self) -> str:
        """How many there are, and the first."""
        return f"IdColumn({len(self):,} ids{f', {self[0]!r} ...' if len(self) else ''})"

    def rows_of(self, wanted: Iterable[str]) -> dict[str, int]:
        """The rows of some ids.

        Args:
            wanted: Of which the rows are asked for.

        Returns:
            The row of each that is here.
        """
        asked = {name for name in wanted if isinstance(name, str) and _is_utf8(name)}
        hashed = np.unique(
            np.concatenate([part.hashes() for part in _parts_of(iter(asked))] or [np.zeros(0, np.uint64)])
        )
        rows: dict[str, int] = {}
        first = 0
        for piece in self.pieces():
            for within in np.flatnonzero(_among(piece.hashes(), hashed)).tolist():
                name = piece.piece(within, within + 1).texts()[0]
                if name in asked:
                    rows.setdefault(name, first + within)
            first += len(piece.starts) - 1
        return rows

    def repeated(self) -> tuple[str, int] | None:
        """The id that stands here most often, and how often; nothing where none stands here twice."""
        hashes = np.empty(len(self), np.uint64)
        first = 0
        for piece in self.pieces():
            some = piece.hashes()
            hashes[first : first + len(some)] = some
            first += len(some)
        hashes.sort()
        twice = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])[:DOUBTS]
        if not len(twice):
            return None
        names: Counter[str] = Counter()
        for piece in self.pieces():
            within = np.flatnonzero(_among(piece.hashes(), twice)).tolist()
            names.update(piece.piece(row, row + 1).texts()[0] for row in within)
        name, times = names.most_common(1)[0]
        return (name, times) if times > 1 else None

    def first_empty(self) -> int | None:
        """The row of the first id without a letter; nothing where there is none."""
        first = 0
        for part in self.parts:
            empty = np.flatnonzero(np.diff(part.starts) == 0)
            if len(empty):
                return first + int(empty[0])
            first += len(part.starts) - 1
        return None

    def first_with(self, signs: Iterable[str]) -> str | None:
        """The first id that holds one of these characters; nothing where none does.

        Args:
            signs: Characters of ASCII.
        """
        refused = np.array([ord(sign) for sign in signs], np.uint8)
        for piece in self.pieces():
            if np.isin(piece.letters[piece.starts[0] : piece.starts[-1]], refused).any():
                return next(name for name in piece.texts() if set(name) & set(signs))
        return None

    def pieces(self, start: int = 0, stop: int | None = None) -> Iterator[IdPart]:
        """Some of the ids, a few at a time.

        Args:
            start: The row of the first.
            stop: The row behind the last; behind all of them unless said.
        """
        stop = len(self) if stop is None else stop
        for part, first in zip(self.parts, self.firsts[:-1].tolist(), strict=True):
            low, high = max(start - first, 0), min(stop - first, len(part.starts) - 1)
            for begin in range(low, high, TOGETHER):
                yield part.piece(begin, min(begin + TOGETHER, high))


def same_ids(mine: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two sequences have the same ids in the same order.

    Args:
        mine: Some ids.
        others: Other ones.

    Example:
        >>> from offsphere.data.id_column import IdColumn, same_ids
        >>> same_ids(["d1", "d2"], IdColumn.of(["d1", "d2"])), same_ids(["d1", "d2"], ("d1",))
        (True, False)
    """
    if mine is others:
        return True
    if isinstance(mine, IdColumn):
        return mine == others
    return others == mine if isinstance(others, IdColumn) else list(mine) == list(others)


def _parts_of(ids: Iterator[str]) -> Iterator[IdPart]:
    """Texts as columns of bytes, some of them at a time."""
    while together := list(islice(ids, TOGETHER)):
        joined = "".join(together)
        content = joined.encode()
        counted: Any = together if len(content) == len(joined) else (text.encode() for text in together)
        starts = np.zeros(len(together) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, counted), np.int64, len(together)), out=starts[1:])
        yield IdPart(np.frombuffer(content, np.uint8), starts)


@lru_cache(maxsize=4)
def _powers(count: int) -> tuple[Hashes, Hashes]:
    """The powers of the multiplier, and of what undoes it."""
    inverse = pow(MULTIPLIER, -1, 1 << 64)
    rising, falling = (np.full(count, base, np.uint64) for base in (MULTIPLIER, inverse))
    rising[0] = falling[0] = 1
    return rising.cumprod(dtype=np.uint64), falling.cumprod(dtype=np.uint64)


def _among(hashes: Hashes, some: Hashes) -> NDArray[np.bool_]:
    """Which of the hashes are among some others, which rise."""
    if not len(some):
        return np.zeros(len(hashes), np.bool_)
    places: Index = np.minimum(np.searchsorted(some, hashes), len(some) - 1)
    return np.asarray(some[places] == hashes)


def _is_utf8(name: str) -> bool:
    """Whether a text has no half characters."""
    return name.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in name)
