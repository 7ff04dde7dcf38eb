"""A comparison broken down by groups of queries: for whom does a scorer help, and for whom does it hurt?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.errors import ParameterError
from offsphere.base.plain import plain
from offsphere.base.short_repr import short_repr
from offsphere.data.grouping import Grouping
from offsphere.statistics.agreeing_intervals import around_means
from offsphere.statistics.max_t import max_t_by_signs


class TableRow(Protocol):
    """A row of any table of a comparison: a scorer, another system, or a scorer on stored vectors."""

    @property
    def name(self) -> str:
        """What tells it from all other rows."""
        ...

    @property
    def label(self) -> str:
        """As it is printed."""
        ...

    @property
    def values(self) -> Array | None:
        """Per query, where the metric has such values."""
        ...


class GroupDifference(NamedTuple):
    """What one group gains on average, with its interval and a p that is corrected for all groups."""

    difference: float
    low: float
    high: float
    p: float


class GroupCell(NamedTuple):
    """One scorer in one group of queries."""

    label: str
    units: int
    scorer: str
    value: float
    gain: GroupDifference | None  # against the baseline; nothing for the baseline itself


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The baseline and the scorers that matter, in each group of one grouping."""

    name: str
    cells: Sequence[GroupCell]

    __repr__ = short_repr

    @property
    def labels(self) -> list[str]:
        """The groups, the largest first."""
        return list(dict.fromkeys(cell.label for cell in self.cells))

    def to_json(self) -> dict[str, Any]:
        """Give everything as plain values, for JSON."""
        cells = [
            {"group": cell.label, "units": cell.units, "scorer": cell.scorer, "value": cell.value}
            | (cell.gain._asdict() if cell.gain is not None else {})
            for cell in self.cells
        ]
        return {"by": self.name, "groups": plain(cells)}


def break_down(rows: Sequence[TableRow], baseline: TableRow, grouping: Grouping, seed: int = 0) -> Breakdown:
    """Compute the value of some rows in each group, and how each differs from the baseline there.

    Args:
        rows: Of one comparison, scorers or not, the baseline among them or not.
        baseline: What all are held against.
        grouping: The group of each query.
        seed: Of intervals and tests.

    Returns:
        A cell a group and row; the largest group first, p corrected for all of them together.

    Raises:
        ParameterError: The metric has no value a query.
    """
    if baseline.values is None:
        raise ParameterError(f"by {grouping.name}: the metric has no value a query to be grouped: use ndcg@10, ...")
    labels = np.array(grouping.labels)
    names, counts = np.unique(labels, return_counts=True)
    ordered = names[np.lexsort((names, -counts))].tolist()
    others = [row for row in rows if row is not baseline and row.values is not None]
    keys = [(label, row) for label in ordered for row in others]
    gained = [np.where(labels == label, _values(row) - _values(baseline), np.nan) for label, row in keys]
    judged = judge_groups(np.stack(gained, axis=1), seed) if gained else []
    gains = dict(zip([(label, row.name) for label, row in keys], judged, strict=True))
    return Breakdown(
        grouping.name,
        [
            GroupCell(
                label=label,
                units=int((labels == label).sum()),
                scorer=row.label,
                value=float(_values(row)[labels == label].mean()),
                gain=gains.get((label, row.name)),
            )
            for label in ordered
            for row in (baseline, *others)
        ],
    )


def judge_groups(gained: Array, seed: int) -> list[GroupDifference]:
    """Test the mean gain of each group by random signs, corrected for all groups, and put its interval around it.

    Args:
        gained: By each unit: (units, groups), not a number where the unit is not of the group.
        seed: Of the sign patterns.

    Returns:
        A difference a group, in their order.
    """
    tests = max_t_by_signs(np.nan_to_num(gained), seed=seed)
    differences = []
    for column, p, reach in zip(gained.T, tests.corrected.tolist(), tests.reach, strict=True):
        values = column[np.isfinite(column)][:, None]
        around = around_means(values, reach[None])
        differences.append(GroupDifference(float(values.mean()), float(around.low[0]), float(around.high[0]), p))
    return differences


def _values(row: TableRow) -> Array:
    assert row.values is not None
    return row.values
