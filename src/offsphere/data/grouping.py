"""Groups of queries that the data itself names, such as hops or types, by which every table can be broken down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from offsphere.base.arrays import Index
from offsphere.base.errors import UnknownNameError
from offsphere.base.short_repr import short_repr
from offsphere.base.shown_ids import shown_id
from offsphere.data.items import pick

MOST_LABELS = 50  # a field with more of them names the queries, not their groups


@dataclass(frozen=True, slots=True)
class Grouping:
    """One way to group queries: what it is called, and the label of each query.

    Example:
        >>> import numpy as np
        >>> from offsphere.data.grouping import Grouping
        >>> Grouping("hops", ["2", "4", "2"]).only(np.array([1, 2])).labels
        ['4', '2']
    """

    name: str
    labels: Sequence[str]

    __repr__ = short_repr

    def only(self, rows: Index) -> Grouping:
        """The labels of some queries, in the order given."""
        return Grouping(self.name, pick(self.labels, rows))


def groups_in_words(groups: Sequence[Grouping]) -> dict[str, str]:
    """How many queries have each label, for people: ``{"groups_by_type": "bridge 300, comparison 100"}``."""
    counts = {grouping.name: Counter(grouping.labels).most_common() for grouping in groups}
    return {
        f"groups_by_{shown_id(name)}": ", ".join(f"{shown_id(label)} {count:,}" for label, count in labels)
        for name, labels in counts.items()
    }


def grouping_named(groups: Sequence[Grouping], name: str, task: str) -> Grouping:
    """The grouping of that name; an error that names those there are."""
    for grouping in groups:
        if grouping.name == name:
            return grouping
    known = [grouping.name for grouping in groups]
    raise UnknownNameError(f"group of the queries of {task}", name, known or ["none: its queries carry no groups"])
