"""Training data: what is learned from, what training stops by and what is judged by, put apart once.

The same for adapters, which learn from the vectors of a task, and for encoders, which learn from its texts. What is
judged by is not learned from, in whatever source it stands, nor is what training stops by; but a copy of a unit that
was put aside, under another id, may be where ``learn_copies`` says so. Held-out data that is given is used without what
is judged by, and refused where nothing is left of it. As many trainings as one likes may start from the same data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from offsphere.base.arrays import Flags, Index
from offsphere.base.digests import digest_of
from offsphere.base.errors import DataError, ParameterError
from offsphere.comparison.compare_scorers import metric_for
from offsphere.data.task import Task
from offsphere.learning.data.task_sources import TaskSource
from offsphere.learning.data.training_pairs import TrainingPairs

TEST_SHARE = 0.3  # of the units, where no other data is there to judge by
HELD_OUT_SHARE, MOST_HELD_OUT = 0.15, 1_000  # of the units, to stop by
FEWEST = 8  # units to learn from and stop by

TrainingSource = TypeVar("TrainingSource", bound=TaskSource[Any])


@dataclass(frozen=True, eq=False, kw_only=True)  # without slots, which a generic class cannot have when it is frozen
class TrainingData(Generic[TrainingSource]):
    """A source to learn from by rows, and the sources that decide when to stop and what it was worth."""

    source: TrainingSource  # all of what there is to learn from
    rows: Index  # the units of it that are learned from
    also: Sequence[TrainingSource]  # what else is learned from
    held_out: TrainingSource  # what training stops by
    judged: Sequence[TrainingSource]  # what is judged by
    metric: str
    judged_too: int  # units that are not learned from, since they are judged by
    held_out_too: int  # units that are not learned from, since training stops by them

    @classmethod
    def of(
        cls,
        source: TrainingSource,
        *,
        held_out: TrainingSource | None = None,
        judged: Sequence[TrainingSource] = (),
        also: Sequence[TrainingSource] = (),
        new_documents: bool = False,
        metric: str | None = None,
        seed: int = 0,
        learn_copies: bool = False,
    ) -> TrainingData[TrainingSource]:
        """Put units aside where no held-out data is given, and leave out of the others what must not be learned from.

        Args:
            source: What to learn from.
            held_out: What training stops by; without it some units of the source, put aside at random.
            judged: What is judged by.
            also: Further sources that are learned from, but for units of theirs that are judged or stopped by.
            new_documents: Whether units that are put aside share no relevant document with those that are learned from.
            metric: By which held-out data is measured; the usual one of its kind without.
            seed: Of what is put aside.
            learn_copies: Whether a copy of a unit that was put aside, under another id, may still be learned from.

        Raises:
            DataError: If too few units are left to learn from or to stop by.
        """
        if seed < 0:
            raise ParameterError(f"seed = {seed}: a seed is at least 0")
        source.check([*also, *judged, *([held_out] if held_out is not None else [])])
        if held_out is None:
            metric = metric_for(source.task, metric).name
            units = source.task.units
            share = min(HELD_OUT_SHARE, MOST_HELD_OUT / max(units, 1))
            rows, aside = rows_apart(source.task, share, seed, by_document=new_documents)
            held_out, with_copies = source.only(aside), learn_copies
        else:
            rows, with_copies = np.arange(source.task.units), False
            held_out = _leave_out_judged(held_out, judged)
        own, *others = (
            _LearnedRows.of(part, some, judged, [] if with_copies else [held_out])
            for part, some in [(source, rows), *((part, np.arange(part.task.units)) for part in also)]
        )
        return cls(
            source=source,
            rows=own.rows,
            also=[
                part if each.is_whole else part.only(each.rows)
                for part, each in zip(also, others, strict=True)
                if len(each.rows)
            ],
            held_out=held_out,
            judged=judged,
            metric=metric_for(held_out.task, metric).name,
            judged_too=sum(each.judged_too for each in (own, *others)),
            held_out_too=sum(each.held_out_too for each in (own, *others)),
        )

    def pairs(self, *, repeat: int | None = None, know_all: bool = False) -> TrainingPairs[Any]:
        """The positives that are learned from; ``TrainingPairs.of`` says what ``repeat`` and ``know_all`` mean."""
        return TrainingPairs.of(self.source, self.rows, also=self.also, repeat=repeat, know_all=know_all)

    def with_held_out(self, held_out: TrainingSource) -> TrainingData[TrainingSource]:
        """These data with other held-out data, such as a part of them."""
        return replace(self, held_out=held_out)

    def seen_units(self, judged: TrainingSource) -> Flags:
        """Which units of what is judged by have a relevant document that was learned from."""
        queries, documents = self.source.positives()
        learned = np.unique(documents[np.isin(queries, self.rows)])
        contents = set(self.source.document_contents(learned))
        queries, documents = judged.task.positives()
        rows, position = np.unique(documents, return_inverse=True)
        known = np.array([value in contents for value in judged.document_contents(rows)], np.bool_)
        flags = np.zeros(judged.task.units, np.bool_)
        flags[queries[known[position]]] = True
        return flags

    def wanted_documents(self, *, by_judged: bool) -> Flags | None:
        """Which documents of the held-out data are relevant to a unit that is learned from, for a probe to leave out.

        Args:
            by_judged: Whether those count too that are relevant to a unit that is judged by.

        Returns:
            A flag a document; nothing where that is not known, since the corpus is another or each belongs to one unit.
        """
        return self.held_out.wanted_by([self.source, *(self.judged if by_judged else [])])

    def judged_negatives(self) -> int:
        """How many pairs of a unit that is learned from were judged not to belong together."""
        return int(np.isin(self.source.task.judged_negatives()[0], self.rows).sum())

    def digest(self) -> str:
        """A digest of everything in the data that decides how a training goes and what it is worth."""
        parts = [self.rows.tobytes(), self.metric.encode(), f"{len(self.also)} {len(self.judged)}".encode()]
        for source in (self.source, *self.also, self.held_out, *self.judged):
            parts += source.contents()
        return digest_of(parts)


class _LearnedRows(NamedTuple):
    """The units of a source that are learned from, and how many are not, since they are judged or stopped by."""

    rows: Index
    judged_too: int
    held_out_too: int

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left out."""
        return not self.judged_too and not self.held_out_too

    @classmethod
    def of(
        cls,
        source: TrainingSource,
        rows: Index,
        judged: Sequence[TrainingSource],
        held_out: Sequence[TrainingSource],
    ) -> _LearnedRows:
        """Leave out what stands in the sources that are judged by, then what stands in those that training stops by."""
        not_judged = _rows_in_none_of(source, rows, judged)
        learned = _rows_in_none_of(source, not_judged, held_out)
        return cls(learned, len(rows) - len(not_judged), len(not_judged) - len(learned))


class Division(NamedTuple, Generic[TrainingSource]):
    """What to learn from, what to judge by, and how to say that data was divided; nothing where it was not."""

    train: TrainingSource
    test: TrainingSource
    note: str


def divide(source: TrainingSource, seed: int, *, by_document: bool = False) -> Division[TrainingSource]:
    """Divide data that has one split only into what is learned from and what is judged by."""
    task = source.task
    rows, kept = rows_apart(task, TEST_SHARE, seed, by_document=by_document)
    note = f"there is no other split to judge by: {TEST_SHARE:.0%} of the {task.unit} {source.kept_back}"
    return Division(source.only(rows), source.only(kept), note)


def rows_apart(task: Task, share: float, seed: int, *, by_document: bool = False) -> tuple[Index, Index]:
    """Units to learn from and units to keep; ``by_document`` keeps relevant documents apart too."""
    if task.units < FEWEST:
        raise DataError(
            f"{task.name} has {task.units} {task.unit} to learn from; learning and stopping need at least {FEWEST}: "
            "give more"
        )
    return task.rows_apart(share, seed, by_document=by_document)


def _leave_out_judged(held_out: TrainingSource, judged: Sequence[TrainingSource]) -> TrainingSource:
    """Held-out data without the units that are judged by; refused where too few are left."""
    units = held_out.task.units
    free = _rows_in_none_of(held_out, np.arange(units), judged)
    if len(free) == units:
        return held_out
    if len(free) < FEWEST:
        raise DataError(f"{held_out.task.name}: it is judged by too: stop by other data (--held-out)")
    return held_out.only(free)


def _rows_in_none_of(source: TrainingSource, rows: Index, forbidden: Sequence[TrainingSource]) -> Index:
    """Those of ``rows`` whose contents, a query or a pair, stand in no forbidden source, under whatever id."""
    if not forbidden:
        return rows
    known = {key for part in forbidden for key in part.unit_keys()}
    keys = source.unit_keys()
    return np.array([row for row in rows.tolist() if keys[row] not in known], np.int64)
