"""Work done by Ray: an actor a worker, which prepares once and then does one piece after the other.

Ray starts an actor that died again, elsewhere if need be, and repeats what it was doing. Actors that have nothing left
to do are let go, so that one which lost its node finds room; between the passes of one question they are kept.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

from offsphere.base.cores import CORES
from offsphere.base.errors import OffsphereError, ParameterError, first_line
from offsphere.base.extras import load_extra
from offsphere.runners.runner import Answer, Job, Piece, Runner

ADDRESS = "RAY_ADDRESS"  # where Ray's own commands look for a cluster
USAGE = "RAY_USAGE_STATS_ENABLED"  # whether a Ray that is started here tells its makers about it
STARTS = 5  # how often a Ray is started here before it is given up
PATIENCE = 5.0  # seconds that kept workers may be idle while another one is at work
RETRIES = 20  # how often the worker of one piece may die


@dataclass(frozen=True, slots=True)
class RayRunner:
    """A runner on a Ray cluster, or on one that it starts on this machine.

    Args:
        address: Such as ``ray://HOST:10001``; without one, that of ``$RAY_ADDRESS``, or a Ray that is started here and
            ends with this process.
        workers: How many; as many as the cluster has room for, unless said.
        cpus: Of each worker, which runs as many threads.
        gpus: Of each worker.
        object_store: Bytes of the object store of a Ray that is started here; Ray decides unless said.

    Raises:
        ParameterError: A number is too small.

    Example:
        >>> import offsphere as osp
        >>> osp.RayRunner("ray://head:10001", workers=64, gpus=1)  # nothing is connected yet
        RayRunner(address='ray://head:10001', workers=64, cpus=1, gpus=1, object_store=None)
    """

    address: str | None = None
    workers: int | None = None
    cpus: int = 1
    gpus: float = 0.0
    object_store: int | None = None

    def __post_init__(self) -> None:
        """Refuse workers that cannot work."""
        if self.workers is not None and self.workers < 1:
            raise ParameterError(f"workers = {self.workers}: there must be at least one")
        if self.cpus < 1 or self.gpus < 0:
            raise ParameterError(f"cpus = {self.cpus}, gpus = {self.gpus}: a worker needs at least one CPU")

    def run(self, job: Job[Piece, Answer], pieces: Sequence[Piece]) -> Iterator[tuple[int, Answer]]:
        """Do every piece on the cluster, and give each answer when it is there.

        Args:
            job: The work; Ray pickles it, and its answers, on their way between its processes.
            pieces: What it is done for.

        Yields:
            The number of a piece, and its answer; in the order in which they are finished.

        Raises:
            OffsphereError: A piece cannot be done, the cluster cannot be reached or has no room, or a worker died again
                and again.
            MissingExtraError: Ray is not installed.
        """
        yield from _Crew(self, 0.0).run(job, pieces)

    @contextmanager
    def keeping(self) -> Iterator[Runner]:
        """Keep workers from one pass to the next, since each takes seconds to start and to load what is compiled.

        Yields:
            A runner that does so until the block ends.

        Example:
            >>> import offsphere as osp
            >>> with osp.RayRunner(workers=2).keeping() as crew:  # nothing is connected yet
            ...     list(crew.run(None, []))
            []
        """
        crew = _Crew(self, PATIENCE)
        try:
            yield crew
        finally:
            crew.idle.clear()


class _Crew:
    """Workers of one runner, and those among them that have nothing to do just now.

    Args:
        runner: Says where they work, and how many there are.
        patience: Seconds that idle ones are kept while others are at work, one of which may be waiting for their room.
    """

    def __init__(self, runner: RayRunner, patience: float) -> None:
        self.runner, self.patience = runner, patience
        self.idle: deque[Any] = deque()

    def run(self, job: Job[Piece, Answer], pieces: Sequence[Piece]) -> Iterator[tuple[int, Answer]]:
        """Do every piece, as ``RayRunner.run`` says."""
        if not pieces:
            return
        ray = _connect(self.runner)
        try:
            yield from self._run(ray, job, pieces)
        except ray.exceptions.RayError as error:
            _tell(ray, error)

    def _run(self, ray: Any, job: Job[Piece, Answer], pieces: Sequence[Piece]) -> Iterator[tuple[int, Answer]]:
        """Give a piece to every worker that has none, until all are done."""
        runner, idle = self.runner, self.idle
        start = ray.remote(_Worker).options(
            num_cpus=runner.cpus,
            num_gpus=runner.gpus,
            max_restarts=-1,
            max_task_retries=RETRIES,
            scheduling_strategy="SPREAD",
        )
        sent = [ray.put(job)]  # in a list, so that a worker fetches it once
        idle += [start.remote(runner.cpus) for _ in range(min(_room(runner, ray), len(pieces)) - len(idle))]
        waiting = deque(enumerate(pieces))
        running: dict[Any, tuple[int, Any]] = {}
        while waiting or running:
            while waiting and idle:
                worker, (number, piece) = idle.popleft(), waiting.popleft()
                running[worker.do.remote(piece, sent)] = number, worker
            finished, _ = ray.wait(list(running), num_returns=1, timeout=self.patience if idle else None)
            if not finished:
                idle.clear()  # nothing is left for these
                continue
            number, worker = running.pop(finished[0])
            answer, trouble = ray.get(finished[0])
            if trouble is not None:
                raise OffsphereError(trouble)
            idle.append(worker)
            del worker, finished  # or they would live as long as this loop
            yield number, answer


class _Worker:
    """What an actor is: it prepares when the first piece of a job comes, and tells what a user can mend as a text."""

    def __init__(self, cores: int) -> None:
        os.environ[CORES] = str(cores)
        self._job: Any = None
        self._work: Callable[[Any], Any] | None = None

    def do(self, piece: Any, sent: Sequence[Any]) -> tuple[Any, str | None]:
        """One piece of the job that was sent: its answer, or what is wrong with it."""
        try:
            if self._work is None or sent[0] != self._job:
                self._job, self._work = sent[0], None  # what an earlier job had prepared may be large
                job: Job[Any, Any] = load_extra("ray").get(sent[0])
                self._work = job.prepare()
            return self._work(piece), None
        except OffsphereError as error:
            return None, str(error)


def _room(runner: RayRunner, ray: Any) -> int:
    """How many workers to start: as many as asked for, also where nodes are still to come, or have gone.

    Raises:
        ParameterError: There is no room for a single one, for which Ray would wait for ever.
    """
    resources: Mapping[str, float] = ray.cluster_resources()
    asked = {"CPU": float(runner.cpus)} | ({"GPU": runner.gpus} if runner.gpus else {})
    room = min(int(resources.get(name, 0) // need) for name, need in asked.items())
    if not room:
        has = " and ".join(f"{resources.get(name, 0):g} {name}s" for name in asked)
        wanted = " and ".join(f"{need:g} {name}s" for name, need in asked.items())
        raise ParameterError(
            f"the Ray cluster has {has}, no room for a worker with {wanted}: ask for fewer --cpus or --gpus"
        )
    return runner.workers or room


def _connect(runner: RayRunner) -> Any:
    """Ray, connected: to where this process is connected already, to the address, or to a new one.

    Raises:
        MissingExtraError: Ray is not installed.
        OffsphereError: It cannot be reached.
    """
    os.environ.setdefault(USAGE, "0")
    ray = load_extra("ray")
    if ray.is_initialized():
        return ray
    address = runner.address or os.environ.get(ADDRESS) or "local"
    local: dict[str, Any] = {"include_dashboard": False, "object_store_memory": runner.object_store}
    more = local if address == "local" else {}
    for tried in range(STARTS):
        try:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR", **more)
            break
        except Exception as error:  # Ray raises many kinds
            ray.shutdown()
            if address == "local" and "timed out" in str(error) and tried + 1 < STARTS:
                continue  # it gives itself half a minute, which a busy machine exceeds
            raise OffsphereError(
                f"cannot connect to Ray at {address}: {first_line(error)}: is it running, with this version of Ray "
                f"({ray.__version__}) and of Python?"
            ) from error
    return ray


def _tell(ray: Any, error: Exception) -> NoReturn:
    """Say in one line what Ray could not do, and which option helps."""
    known = ray.exceptions
    if isinstance(error, known.ObjectStoreFullError | known.OutOfDiskError):
        raise OffsphereError(
            "Ray's object store is full: raise --object-store (of a running cluster: ray start "
            f"--object-store-memory), or --shards, so that states wait in smaller numbers ({first_line(error)})"
        ) from error
    if isinstance(error, known.RayActorError | known.WorkerCrashedError | known.OutOfMemoryError):
        raise OffsphereError(
            f"a worker died {RETRIES + 1} times at one shard, probably for want of memory: make smaller shards "
            "with --shards, or ask for fewer --workers; what is finished is kept"
        ) from error
    raise OffsphereError(f"Ray: {first_line(error)}; what is finished is kept, run the same command again") from error
