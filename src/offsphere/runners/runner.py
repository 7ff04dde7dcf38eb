"""What a runner is: whoever does the same work for every shard, anywhere and in any order.

One that has workers of its own may have a second method, ``keeping()``: a context in which a runner keeps them from one
pass to the next. ``kept_workers`` asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TypeVar

Piece = TypeVar("Piece")
Piece_contra = TypeVar("Piece_contra", contravariant=True)
Answer = TypeVar("Answer")
Answer_co = TypeVar("Answer_co", covariant=True)


class Job(Protocol[Piece_contra, Answer_co]):
    """Work that is sent to workers: small, since each of them gets a copy."""

    def prepare(self) -> Callable[[Piece_contra], Answer_co]:
        """Load what every piece needs, such as the task or a model: once a worker. Gives what does one piece."""
        ...


class Runner(Protocol):
    """Maps pieces of work to answers; another engine is one more class with this method."""

    def run(self, job: Job[Piece, Answer], pieces: Sequence[Piece]) -> Iterator[tuple[int, Answer]]:
        """Do every piece, and give each answer when it is there.

        A piece may be done twice, where a worker dies: what it leaves must be the same then.

        Args:
            job: The work.
            pieces: What it is done for.

        Yields:
            The number of a piece, from 0, and its answer; in any order.

        Raises:
            OffsphereError: A piece cannot be done. Answers that came before it count.
        """
        ...


@contextmanager
def kept_workers(runner: Runner) -> Iterator[Runner]:
    """Let a runner keep its workers while a question is asked in several passes, where it can.

    Args:
        runner: Any.

    Yields:
        What it gives for as long as the block lasts; itself, where it keeps nothing.
    """
    keeping: Callable[[], AbstractContextManager[Runner]] | None = getattr(runner, "keeping", None)
    if keeping is None:
        yield runner
        return
    with keeping() as crew:
        yield crew
