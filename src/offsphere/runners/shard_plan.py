"""What a run over shards will take, told before anything runs: bytes, multiplications, memory, and time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from offsphere.base.cores import physical_memory
from offsphere.base.errors import ParameterError

UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
TIMES = ((86_400, "days"), (3_600, "hours"), (60, "minutes"), (1, "seconds"))
AN_ID = 32  # bytes of an id of ten letters where it is looked up in a column, with its hash
LISTED_ID = 150  # bytes of one that was read with a text, and stands in a list and in a table


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A corpus, there or only described.

    Args:
        documents: How many.
        dimension: Of their vectors.
        queries: How many ask; none where vectors are measured alone.
        number: Bytes of a stored number.

    Raises:
        ParameterError: There is nothing to do.
    """

    documents: int
    dimension: int
    queries: int = 0
    number: int = 4

    def __post_init__(self) -> None:
        """Refuse what is no corpus."""
        if self.documents < 1 or self.dimension < 1 or self.queries < 0:
            raise ParameterError(
                f"{self.documents} documents of {self.dimension} dimensions and {self.queries} queries: nothing to plan"
            )

    @property
    def bytes(self) -> int:
        """How many the vectors of the documents have."""
        return self.documents * self.dimension * self.number


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardPlan:
    """What a run will take.

    Attributes:
        work: What is done.
        workload: For what.
        shards: Into how many the documents are cut.
        workers: How many work on them.
        bytes_to_read: By all workers together.
        multiplications: Of numbers, in matrix products; none where they are not counted.
        memory: Bytes a worker needs.
        driver: Bytes that the command itself needs, which reads the task and merges the states.
        states: Bytes of the states that it keeps on its disk until all are merged; none where there are no states.
        reading: Seconds that reading takes, where each worker reads at the speed of the disk of this machine.
        computing: Seconds that all else takes, at the speed of this machine.
    """

    work: str
    workload: Workload
    shards: int
    workers: int
    bytes_to_read: int
    multiplications: int | None
    memory: int
    driver: int
    states: int
    reading: float
    computing: float

    @property
    def seconds(self) -> float:
        """How long it takes: what is read is read while the rest is computed, and shards are not divided further."""
        return max(self.reading, self.computing)

    @property
    def bound(self) -> str:
        """The resource that more of would help most."""
        if max(self.memory, self.driver) > physical_memory():
            return "memory"
        return "the disk" if self.reading > self.computing else "the processor"

    @property
    def sentences(self) -> list[str]:
        """The plan in words."""
        load = self.workload
        asked = f", {load.queries:,} queries" if load.queries else ""
        workers = f"{self.workers} workers" if self.workers > 1 else "1 worker"
        told = [
            f"{self.work}: {load.documents:,} documents x {load.dimension}{asked}",
            f"shards: {self.shards:,}, of {-(-load.documents // self.shards):,} documents each",
            f"to read: {in_units(self.bytes_to_read)}B",
        ]
        if self.multiplications is not None:
            told.append(f"multiplications: {in_units(self.multiplications)}")
        told.append(f"memory a worker: {in_units(self.memory)}B, of the command itself: {in_units(self.driver)}B")
        if self.states:
            told.append(f"states, on the disk of the command: {in_units(self.states)}B")
        told.append(f"time with {workers}, by the speed of this machine: {in_time(self.seconds)}")
        needing = "a worker" if self.memory > physical_memory() else "the command itself"
        lack = f": {needing} needs more than the {in_units(physical_memory())}B of this machine"
        told.append(f"bound by {self.bound}{lack if self.bound == 'memory' else ''}")
        return told

    def to_json(self) -> dict[str, Any]:
        """The plan as plain values."""
        values: Mapping[str, Any] = asdict(self)
        return {**values, "seconds": self.seconds, "bound": self.bound}


def in_units(count: float) -> str:
    """A large number to three digits, with its unit.

    Example:
        >>> from offsphere.runners.shard_plan import in_units
        >>> in_units(3.072e12), in_units(999)
        ('3.07 T', '999 ')
    """
    for size, unit in UNITS:
        if count >= size:
            return f"{count / size:.3g} {unit}" if count / size < 1e3 else f"{count / size:,.0f} {unit}"  # noqa: PLR2004
    return f"{count:g} "


def in_time(seconds: float) -> str:
    """Seconds as one would say them.

    Example:
        >>> from offsphere.runners.shard_plan import in_time
        >>> in_time(0.2), in_time(90), in_time(200_000)
        ('under a second', '1.5 minutes', '2.3 days')
    """
    for size, unit in TIMES:
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return "under a second"
