"""Vectors measured over shards by a runner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from offsphere.base.errors import DataError
from offsphere.base.progress import Progress
from offsphere.base.remote_path import given_path
from offsphere.data.located_side import check_seal, seal_of
from offsphere.data.vector_files import is_vectors, read_vectors
from offsphere.geometry.shape import Geometry
from offsphere.runners.gathering import ShardPiece, state_folder
from offsphere.runners.local_runner import LocalRunner
from offsphere.runners.runner import Runner
from offsphere.runners.shared_source import question_key
from offsphere.shards.measure_state import (
    MeasureState,
    VectorFacts,
    check_shard_sections,
    measure_origin,
    measure_shard,
    measured,
    take_shard,
)
from offsphere.shards.shard import usual_shards

LEAST = 65_536  # vectors of a shard, where nobody says how many shards there are


def measure_shards(
    path: str | Path,
    *,
    sections: Sequence[str] | None = None,
    seed: int = 0,
    verify: bool = True,
    shards: int | None = None,
    runner: Runner | None = None,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> Geometry:
    """Measure vectors shard by shard, wherever they are worked on: lengths, isotropy and dimensions.

    Args:
        path: A file, a store, or a folder of parts, here or elsewhere; workers read it where it lies.
        sections: Some of lengths, isotropy and dimensions; all of them unless said.
        seed: Of the sample.
        verify: Whether stores are compared with the digests they were written with.
        shards: Into how many the vectors are cut.
        runner: Who works on them: this process, unless said.
        folder: Where the states of finished shards are kept, so that a killed run goes on; in the user's cache until
            all are measured, unless said.
        progress: Is told how many shards are done.

    Returns:
        What ``measure`` tells of these sections, to 1e-10.

    Raises:
        DataError: There are no vectors, or they are damaged, or were changed since an earlier run.
        ParameterError: A section needs all vectors at once.
        VectorError: A vector is not finite.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> import offsphere as osp
        >>> path = Path(tempfile.mkdtemp()) / "vectors.npy"
        >>> np.save(path, np.random.default_rng(0).normal(size=(9_000, 4)).astype(np.float32))
        >>> shape = osp.measure_shards(path, sections=["lengths"], shards=2)
        >>> shape.lengths[0].count == osp.measure(np.load(path), sections=["lengths"]).lengths[0].count
        True
    """
    check_shard_sections(sections)
    path = given_path(path).absolute()
    if not is_vectors(path):
        raise DataError(
            f"{path} is no file, store or folder of vectors: over shards these are measured alone, such as "
            "vectors/documents"
        )
    job = MeasureJob.of(path, seed, verify=verify)
    count = shards or usual_shards(job.facts.count, LEAST)
    key = question_key("measure", path, seed=seed, shards=count)
    with state_folder(folder, key, count) as states:
        state = states.gather(runner or LocalRunner(), job, "measure", progress=progress)
        return measured(state, sections)


@dataclass(frozen=True, slots=True)
class MeasureJob:
    """What workers do: measure one shard of the vectors after the other."""

    path: Path
    facts: VectorFacts
    seal: str
    seed: int
    verify: bool

    @classmethod
    def of(cls, path: Path, seed: int, *, verify: bool) -> MeasureJob:
        """Look at the vectors, and forget their ids."""
        file = read_vectors(path, verify=False, lazy=True)
        return cls(path, VectorFacts.of(file), seal_of(file), seed, verify)

    def prepare(self) -> Callable[[ShardPiece], MeasureState | None]:
        """Open the vectors, once for all shards."""
        file, facts = read_vectors(self.path, verify=False, lazy=True, with_ids=False), self.facts
        check_seal(file, self.seal)

        def work(piece: ShardPiece) -> MeasureState | None:
            mine = take_shard(file, piece.shard, verify=self.verify)
            if piece.is_kept(lambda: measure_origin(facts, piece.shard, mine, self.seed)):
                return None
            return measure_shard(facts, piece.shard, mine, self.seed)

        return work
