"""Work done here: one piece after the other, each with all cores of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from offsphere.runners.runner import Answer, Job, Piece


@dataclass(frozen=True, slots=True)
class LocalRunner:
    """The runner that needs no engine.

    Example:
        >>> import offsphere as osp
        >>> class Doubling:
        ...     def prepare(self):
        ...         return lambda number: 2 * number
        >>> list(osp.LocalRunner().run(Doubling(), [3, 4]))
        [(0, 6), (1, 8)]
    """

    def run(self, job: Job[Piece, Answer], pieces: Sequence[Piece]) -> Iterator[tuple[int, Answer]]:
        """Do every piece, in order; nothing is prepared where there is none.

        Args:
            job: The work.
            pieces: What it is done for.

        Yields:
            The number of a piece, and its answer.
        """
        if pieces:
            work = job.prepare()
            yield from ((number, work(piece)) for number, piece in enumerate(pieces))
