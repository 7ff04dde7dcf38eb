"""Vectors alone, or a task, measured over shards by a runner."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from offsphere.base.errors import DataError
from offsphere.base.progress import Progress
from offsphere.base.remote_path import given_path
from offsphere.data.located_side import LocatedFile, seal_of
from offsphere.data.vector_files import is_vectors, read_vectors
from offsphere.encode.embedded_task import EmbeddedSource
from offsphere.geometry.shape import Geometry
from offsphere.runners.gathering import state_folder
from offsphere.runners.local_runner import LocalRunner
from offsphere.runners.measure_job import MeasureJob
from offsphere.runners.measure_task import DividedEvidence, check_task_sections, measure_divided
from offsphere.runners.runner import Runner, kept_workers
from offsphere.runners.shared_source import question_key, shared_source
from offsphere.shards.measure_state import VectorFacts, check_shard_sections, measured
from offsphere.shards.shard import usual_shards

LEAST = 65_536  # vectors of a shard, where nobody says how many shards there are


def measure_shards(
    data: str | Path | EmbeddedSource,
    *,
    split: str | None = None,
    sections: Sequence[str] | None = None,
    seed: int = 0,
    verify: bool = True,
    shards: int | None = None,
    runner: Runner | None = None,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> Geometry:
    """Measure vectors shard by shard, wherever they are worked on.

    Args:
        data: A file, a store, or a folder of parts, here or elsewhere: vectors alone. Or where a task and its vectors
            are. Workers read either where it lies.
        split: Of a task: which judgments.
        sections: Of vectors alone: some of lengths, isotropy and dimensions. Of a task also dual, negatives, spread,
            fisher and gradients. All that can be measured unless said.
        seed: Of samples.
        verify: Whether stores are compared with the digests they were written with; a source says so itself.
        shards: Into how many the vectors, or documents, are cut.
        runner: Who works on them: this process, unless said.
        folder: Where the states of finished shards are kept, so that a killed run goes on; in the user's cache until
            all are measured, unless said.
        progress: Is told how many shards are done.

    Returns:
        What ``measure`` tells of these sections, to 1e-10; lengths are not set against texts.

    Raises:
        DataError: There are no vectors, or they are damaged, or were changed since an earlier run.
        ParameterError: A section needs all vectors at once, or the task has no documents to divide.
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
    if isinstance(data, EmbeddedSource):
        check_task_sections(sections)
        source = shared_source(data)
        known = DividedEvidence.find(source, split, seed)
        count = shards or usual_shards(known.facts.rows, LEAST)
        key = question_key("measure", source, split=split, seed=seed, shards=count)
        with state_folder(folder, key, count) as states, kept_workers(runner or LocalRunner()) as workers:
            return measure_divided(known, sections, states, workers, progress)
    check_shard_sections(sections)
    path = given_path(data).absolute()
    if not is_vectors(path):
        raise DataError(
            f"{path} is no file, store or folder of vectors: name one, such as vectors/documents, or a task together "
            "with its vectors"
        )
    file = read_vectors(path, verify=False, lazy=True)
    job = MeasureJob(VectorFacts.of(file), LocatedFile(path, seal_of(file), verify), seed)
    del file  # and its ids
    count = shards or usual_shards(job.facts.rows, LEAST)
    key = question_key("measure", path, seed=seed, shards=count)
    with state_folder(folder, key, count) as states:
        state = states.gather(runner or LocalRunner(), job, "measure", progress=progress)
        return measured(state, sections)
