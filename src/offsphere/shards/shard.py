"""A shard: one of n parts of a corpus, cut so that whatever is computed tile by tile is computed alike in the whole."""

from __future__ import annotations

import re
from dataclasses import dataclass

from offsphere.base.errors import ParameterError
from offsphere.vectors.blocks import TILE

MOST_SHARDS = 1_000  # that a corpus is cut into unless somebody says more
BLOCK = 16 * TILE  # rows that are fitted together, in a shard as in the whole
_WRITTEN = re.compile(r"(\d+)/(\d+)")


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard ``number`` of ``count``, counted from one.

    Rows are cut at whole tiles, so that a corpus of few tiles has shards without rows; these are as good as any.

    Args:
        number: From 1.
        count: How many shards there are.

    Raises:
        ParameterError: There is no such shard.

    Example:
        >>> from offsphere.shards.shard import Shard
        >>> Shard.read("2/3").rows(5_000), Shard.read("2/3").fitted_rows(5_000)
        (range(1024, 3072), range(5000, 5000))
    """

    number: int
    count: int

    def __post_init__(self) -> None:
        """Refuse a shard that no corpus has."""
        if not 1 <= self.number <= self.count:
            raise ParameterError(f"shard {self.number}/{self.count}: shards are 1/{max(self.count, 1)} and so on")

    @classmethod
    def read(cls, text: str) -> Shard:
        """Read ``2/7`` as somebody types it.

        Raises:
            ParameterError: It is written otherwise, or there is no such shard.
        """
        match = _WRITTEN.fullmatch(text.strip())
        if match is None:
            raise ParameterError(f"--shard {text!r}: write the number of the shard and how many there are, such as 2/7")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        """The shard as it is typed."""
        return f"{self.number}/{self.count}"

    def rows(self, documents: int, tile: int = TILE) -> range:
        """The rows of the shard among so many documents, cut at whole tiles of so many rows."""
        return range(*(self._cut(number, documents, tile) for number in (self.number - 1, self.number)))

    def fitted_rows(self, documents: int) -> range:
        """The rows that it fits: those of all blocks that begin in it, which reach into the next shard."""
        rows = self.rows(documents)
        return range(*(min(-(-edge // BLOCK) * BLOCK, documents) for edge in (rows.start, rows.stop)))

    def _cut(self, number: int, documents: int, tile: int) -> int:
        """The row at which shard ``number`` ends."""
        tiles = -(-documents // tile)
        return min(number * tiles // self.count * tile, documents)


def usual_shards(rows: int, least: int) -> int:
    """Into how many shards so many rows are cut, where nobody says: by their number alone, whoever works on them.

    Args:
        rows: Of the corpus.
        least: Rows of a shard that are worth a worker's while.

    Example:
        >>> from offsphere.shards.shard import usual_shards
        >>> usual_shards(1_000_000, 65_536), usual_shards(10**9, 65_536)
        (16, 1000)
    """
    return min(max(-(-rows // least), 1), MOST_SHARDS)
