"""Measuring over shards: what one pass over the vectors of a shard leaves, and what is told of all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Arrays, Vectors
from offsphere.base.digests import digest_of, digest_of_texts
from offsphere.base.errors import DataError, OffsphereError, ParameterError
from offsphere.base.progress import Progress
from offsphere.base.version import __version__
from offsphere.data.vector_files import VectorFile
from offsphere.geometry.dimensions import Dimensions, dimensions
from offsphere.geometry.directions import Directions
from offsphere.geometry.isotropy import Isotropy, isotropy
from offsphere.geometry.length import LengthSummary
from offsphere.geometry.length_distribution import QUANTILE_ERROR, LengthDistribution
from offsphere.geometry.measurement import check_sections
from offsphere.geometry.sample import Sample
from offsphere.geometry.scanning import SCAN_TILE, Scan, scan
from offsphere.geometry.shape import Geometry
from offsphere.shards.fit_state import digest_of_rows
from offsphere.shards.origin import Origin
from offsphere.shards.shard import Shard
from offsphere.vectors.moments import Moments

SECTIONS = ("lengths", "isotropy", "dimensions")  # what one pass tells, without neighbours or judgments
SIDE = "vector"  # what vectors alone are called


class VectorFacts(NamedTuple):
    """What every shard of vectors knows of all of them, however many there are."""

    name: str
    rows: int
    width: int
    ids: str | None  # a digest of the ids in their order, where they have any

    @classmethod
    def of(cls, file: VectorFile) -> VectorFacts:
        """Tell them of vectors that were opened with their ids."""
        ids = digest_of_texts(file.ids) if file.ids is not None else None
        return cls(file.path.name, len(file.vectors), int(file.vectors.shape[1]), ids)


@dataclass(frozen=True, slots=True, eq=False)
class ScanSummary:
    """What is kept of the vectors of some shards."""

    moments: Moments
    directions: Directions
    lengths: LengthDistribution
    sample: Sample

    @classmethod
    def of(cls, state: Scan) -> ScanSummary:
        """Keep of a pass what does not grow with the number of vectors."""
        return cls(state.moments, state.directions, LengthDistribution.of(state.lengths), state.sample)

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return len(self.moments.mean)

    @property
    def scan(self) -> Scan:
        """The same as a scan, of which no length is known."""
        return Scan(self.moments, self.directions, np.zeros(0), self.sample)

    def merge(self, other: ScanSummary) -> ScanSummary:
        """What is kept of both, whichever comes first."""
        return ScanSummary(
            self.moments.merge(other.moments),
            self.directions.merge(other.directions),
            self.lengths.merge(other.lengths),
            self.sample.merge(other.sample),
        )


@dataclass(frozen=True, slots=True, eq=False)
class MeasureState:
    """What was measured of some shards, and which shards these are; nothing is scanned where they have no rows."""

    origin: Origin
    scanned: ScanSummary | None

    def merge(self, other: MeasureState, what: str = "a state") -> MeasureState:
        """The state of both, whichever comes first.

        Raises:
            DataError: They are of different questions, or have a shard in common.
        """
        origin = self.origin.merge(other.origin, what)
        if self.scanned is None or other.scanned is None:
            return MeasureState(origin, self.scanned or other.scanned)
        return MeasureState(origin, self.scanned.merge(other.scanned))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Its numbers, by name; none where nothing was scanned."""
        if self.scanned is None:
            return {}
        moments, directions, lengths, sample = (
            getattr(self.scanned, name) for name in ("moments", "directions", "lengths", "sample")
        )
        spread = (lengths.mean, lengths.squares, lengths.shortest, lengths.longest)
        return {
            "moments.mean": moments.mean,
            "moments.scatter": moments.scatter,
            "directions.total": directions.total,
            "directions.squares": directions.squares,
            "counts": np.array(
                [moments.count, directions.count, lengths.empty, lengths.count, sample.size, sample.seen], np.int64
            ),
            "lengths.spread": np.array(spread, np.float64),
            "lengths.kept": lengths.kept,
            "lengths.bins": lengths.bins,
            "lengths.counts": lengths.counts,
            "sample.keys": sample.keys,
            "sample.rows": sample.rows,
            "sample.vectors": sample.vectors,
        }

    @classmethod
    def from_arrays(cls, origin: Origin, arrays: Arrays) -> MeasureState:
        """Make it again from what ``arrays`` gave."""
        if not arrays:
            return cls(origin, None)
        rows, directed, empty, with_length, size, seen = arrays["counts"].tolist()
        mean, squares, shortest, longest = arrays["lengths.spread"].tolist()
        lengths = LengthDistribution(
            empty=empty,
            count=with_length,
            mean=mean,
            squares=squares,
            shortest=shortest,
            longest=longest,
            kept=arrays["lengths.kept"],
            bins=arrays["lengths.bins"],
            counts=arrays["lengths.counts"],
        )
        sampled = (arrays[f"sample.{name}"] for name in ("keys", "rows", "vectors"))
        return cls(
            origin,
            ScanSummary(
                Moments(rows, arrays["moments.mean"], arrays["moments.scatter"]),
                Directions(directed, arrays["directions.total"], arrays["directions.squares"]),
                lengths,
                Sample(size, seen, *sampled),
            ),
        )


def shard_rows(facts: VectorFacts, shard: Shard) -> range:
    """Which vectors a shard has: those of whole tiles of a scan."""
    return shard.rows(facts.rows, SCAN_TILE)


def measure_shard(
    facts: VectorFacts, shard: Shard, mine: Vectors, seed: int = 0, progress: Progress | None = None
) -> MeasureState:
    """Measure one shard of vectors.

    Args:
        facts: Of all vectors.
        shard: Which part of them.
        mine: The vectors of the shard: those of ``shard_rows``.
        seed: Of the sample.
        progress: Is told how many vectors are done.

    Returns:
        A state that merges with those of the other shards.

    Raises:
        VectorError: A vector is not finite.
    """
    rows = shard_rows(facts, shard)
    origin = measure_origin(facts, shard, mine, seed)
    if not len(rows):
        return MeasureState(origin, None)
    scanned = scan(mine, seed=seed, progress=progress, first=rows.start, total=facts.rows)
    return MeasureState(origin, ScanSummary.of(scanned))


def measure_origin(facts: VectorFacts, shard: Shard, mine: Vectors, seed: int) -> Origin:
    """What the measurements of a shard are made of.

    Args:
        facts: Of all vectors.
        shard: Which part of them.
        mine: The vectors of the shard.
        seed: Of the sample.
    """
    described = {"file": facts.name, "dimensions": str(facts.width), "seed": str(seed)}
    if facts.ids is not None:
        described["ids of vectors"] = facts.ids[:12]
    return Origin(
        question=digest_of([b"measure", *(f"{name} {value}".encode() for name, value in described.items())]),
        described=described,
        version=__version__,
        documents=facts.rows,
        shards=shard.count,
        parts={str(shard.number): digest_of_rows(mine)},
    )


def check_shard_sections(sections: Sequence[str] | None) -> Sequence[str]:
    """The sections that are told of shards; all of them where none is named.

    Raises:
        ParameterError: A section needs neighbours, texts or judgments.
    """
    wanted = check_sections(sections) or SECTIONS
    needing = [name for name in wanted if name not in SECTIONS]
    if needing:
        raise ParameterError(
            f"section {needing[0]} needs all vectors at once: over shards there are {', '.join(SECTIONS)}"
        )
    return wanted


def measured(state: MeasureState, sections: Sequence[str] | None = None) -> Geometry:
    """What all shards tell together: what ``measure`` tells of the same sections of all vectors.

    Args:
        state: Of all shards.
        sections: Some of ``SECTIONS``; all of them without it.

    Returns:
        The geometry; where quantiles of lengths are not exact, it says within what.

    Raises:
        DataError: A shard is missing.
        ParameterError: A section needs neighbours, texts or judgments.
    """
    wanted = check_shard_sections(sections)
    scanned = whole_scan(state)
    parts: dict[str, Any] = {}
    skipped = {}
    for name in wanted:
        try:
            parts[name] = [section_of_side(name, SIDE, scanned)]
        except OffsphereError as error:
            if sections is not None:
                raise
            skipped[name] = str(error)
    shape = {SIDE: [state.origin.documents, scanned.dimension]}
    return Geometry({"vectors": shape} | how_exact(scanned, wanted), **parts, skipped=skipped)


def whole_scan(state: MeasureState) -> ScanSummary:
    """What is kept of all vectors.

    Raises:
        DataError: A shard is missing.
    """
    state.origin.check_whole()
    if state.scanned is None or state.scanned.moments.count != state.origin.documents:
        raise DataError("the shards do not make up all vectors: measure them again")
    return state.scanned


def section_of_side(name: str, side: str, scanned: ScanSummary) -> LengthSummary | Isotropy | Dimensions:
    """What one of ``SECTIONS`` tells of a side.

    Raises:
        OffsphereError: There is nothing to tell.
    """
    if name == "lengths":
        return scanned.lengths.summary(side)
    if name == "isotropy":
        return isotropy(side, scanned.scan)
    if scanned.dimension < 2:  # noqa: PLR2004
        raise OffsphereError("vectors of one dimension have no direction but a sign: there is nothing to drop")
    return dimensions(side, scanned.directions, scanned.sample)


def how_exact(scanned: ScanSummary, sections: Sequence[str]) -> dict[str, str]:
    """Within what the quantiles of lengths are right; nothing where they are exact, or nobody asked for them."""
    if scanned.lengths.exact or "lengths" not in sections:
        return {}
    return {"quantiles of lengths": f"within {QUANTILE_ERROR:.3%} of themselves"}
