"""States gathered from whoever works on the shards: each is on disk as soon as it comes, so that nothing is done twice.

All of them are then merged in a tree, in the order of the shards: neither the number of workers nor the order in which
they end changes a bit of what comes out.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

from offsphere.base.errors import DataError
from offsphere.base.interruption import told_when_interrupted
from offsphere.base.kept_states import states_of_question
from offsphere.base.progress import Progress
from offsphere.base.reading.file_access import is_there
from offsphere.data.numbered_parts import part_name
from offsphere.data.store_writer import locked
from offsphere.runners.runner import Job, Runner
from offsphere.shards.origin import Origin
from offsphere.shards.shard import Shard
from offsphere.shards.state_files import State, merge_files, read_state, state_path, write_state

SomeState = TypeVar("SomeState", bound=State)


class ShardPiece(NamedTuple):
    """A shard to work on; or, where a state of it was kept, one whose documents are to be compared with it."""

    shard: Shard
    kept: Origin | None = None
    name: str = ""  # of the state that was kept

    def is_kept(self, make: Callable[[], Origin]) -> bool:
        """Whether there is a state of it already, made of what is there now.

        Args:
            make: The origin that a state of now would have.

        Raises:
            DataError: It was made of something else.
        """
        if self.kept is None:
            return False
        make().check_kept(self.kept, self.name)
        return True


class StateFolder(NamedTuple):
    """Where the states of one question are, and how many shards it has."""

    home: Path
    shards: int

    def path(self, name: str, number: int) -> Path:
        """The description of the state of one shard."""
        return state_path(self.home / f"{name}-{part_name(number, self.shards)}")

    def gather(
        self,
        runner: Runner,
        job: Job[ShardPiece, SomeState | None],
        name: str,
        *,
        checked: Callable[[SomeState, str], None] | None = None,
        progress: Progress | None = None,
    ) -> SomeState:
        """Let a runner make the states of all shards that have none yet, and merge all of them.

        Args:
            runner: Who works.
            job: Makes the state of a shard, or nothing where the one that was kept is still right.
            name: How the names of these states begin.
            checked: Refuses a state that was kept, from what is in it; without it, the job looks at the documents.
            progress: Is told how many shards are done.

        Returns:
            The state of all shards.

        Raises:
            OffsphereError: A shard cannot be worked on, or a state that was kept is of something else; it is named, and
                nothing is merged.
        """
        pieces = [piece for number in range(1, self.shards + 1) if (piece := self._piece(name, number, checked))]
        done = self.shards - len(pieces)
        told = f"of {self.shards} shards are in {self.home}: run the same command again, it goes on from there"
        with told_when_interrupted(lambda: f"{done} {told}"):
            for number, state in runner.run(job, pieces):
                if state is not None:
                    write_state(self.path(name, pieces[number].shard.number), state)
                done += 1
                if progress is not None:
                    progress(done, self.shards)
        return cast("SomeState", merge_files([self.path(name, number) for number in range(1, self.shards + 1)]))

    def _piece(self, name: str, number: int, checked: Callable[[SomeState, str], None] | None) -> ShardPiece | None:
        """What is to be done for a shard; nothing where a state was kept and is known to be right."""
        path, shard = self.path(name, number), Shard(number, self.shards)
        if not is_there(path):
            return ShardPiece(shard)
        kept = read_state(path)
        if [*kept.origin.parts] != [str(number)]:
            raise DataError(f"{path} is not the state of shard {shard}: remove it, and run again")
        if checked is None:
            return ShardPiece(shard, kept.origin, str(path))
        checked(cast("SomeState", kept), str(path))
        return None


@contextmanager
def state_folder(folder: Path | None, key: str, shards: int) -> Iterator[StateFolder]:
    """Give the folder of the states of a question.

    Args:
        folder: One that the user named, which stays; or one in the user's cache, which goes when the work ends well.
        key: A digest of everything that the question is.
        shards: Into how many shards the documents are cut.

    Yields:
        The folder.

    Raises:
        OffsphereError: It cannot be written to.
    """
    if folder is not None:
        with locked(folder, option="--states"):
            yield StateFolder(folder, shards)
        return
    with states_of_question(key) as kept:
        if kept is None:  # the user wants nothing kept
            with tempfile.TemporaryDirectory() as passing:
                yield StateFolder(Path(passing), shards)
            return
        with locked(kept, option="--states"):
            yield StateFolder(kept, shards)
        shutil.rmtree(kept, ignore_errors=True)
