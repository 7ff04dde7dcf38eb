"""Where lists from elsewhere come from: a run file, BM25, a fusion, a model that judges. One face for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from offsphere.base.cache import Memo
from offsphere.base.errors import OffsphereError
from offsphere.base.progress import Progress
from offsphere.comparison.length_contrast import LengthContrast
from offsphere.data.scored_lists import ScoredLists
from offsphere.data.task import Task, TaskVectors
from offsphere.statistics.metrics import QualityMetric


class NotListedError(OffsphereError):
    """A row that falls out of a comparison, and why: the others are compared all the same."""


class ListRequest(NamedTuple):
    """What a source of lists is asked for: lists of this task, as deep as this metric looks."""

    task: Task
    vectors: TaskVectors
    metric: QualityMetric
    progress: Progress | None = None
    memo: Memo = Memo()


@dataclass(frozen=True, slots=True, eq=False)
class ListCandidate:
    """A row of lists: those of one system, or several that differ in a parameter that is to be tuned.

    Attributes:
        name: as it stands in the table.
        phrase: what the system does, as an instruction in plain words.
        options: lists of all units; of several the best is found by cross-validation, and held-out values are shown.
        parameters: of each option, as reported.
        notes: what one must know to read the row.
        cost: what making the lists took, in plain words: seconds, pairs scored.
        contrast: what it gains over the same row without token lengths, where that was measured.
    """

    name: str
    phrase: str
    options: Sequence[ScoredLists]
    parameters: Sequence[Mapping[str, float]] = ({},)
    notes: Sequence[str] = field(default=())
    cost: str = ""
    contrast: LengthContrast | None = None


class ListSource(Protocol):
    """Whatever gives rows of lists: ``osp.compare(task, vectors, lists=[source])`` compares them.

    It is asked of rankings and pairs alone: ``make_lists`` leaves tasks of other kinds out.
    """

    def candidates(self, asked: ListRequest) -> Sequence[ListCandidate]:
        """Make the lists of a task.

        Args:
            asked: The task and its vectors, and the metric that says how deep lists must be.

        Returns:
            A row each.

        Raises:
            NotListedError: where this task has not what the source needs, such as texts: a note says so.
            OffsphereError: where the user must mend something first: the comparison stops.
        """
        ...
