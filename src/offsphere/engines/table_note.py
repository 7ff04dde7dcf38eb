"""The note in a table that an export of ours made: what for, and whether it is finished.

Databases that compare every row know no metric: each query says it. Whoever takes an export up again, or asks the
table, reads here what it was made for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

from offsphere.engines.collection import IndexKind, Layout, NumberForm
from offsphere.engines.metric import Metric

OURS = "offsphere: "
UNFINISHED, CHANGED = "unfinished", "changed"  # words of a note; the second: vectors are not as the model gave them


@dataclass(frozen=True, slots=True)
class TableNote:
    """What a table was made for.

    Example:
        >>> from offsphere.engines.metric import Metric
        >>> from offsphere.engines.table_note import TableNote
        >>> str(TableNote(Metric.INNER_PRODUCT, "graph", unfinished=True))
        'offsphere: inner product, graph, float32, unfinished'
        >>> TableNote.of("offsphere: cosine, exact, float16").stored
        'float16'
        >>> TableNote.of("a table of my own") is None
        True
    """

    metric: Metric
    index: IndexKind = "exact"
    stored: NumberForm = "float32"
    unfinished: bool = False
    as_given: bool = True  # whether vectors are as the model gave them

    @classmethod
    def made_for(cls, layout: Layout) -> TableNote:
        """The note of a table that is about to be filled."""
        return cls(layout.metric, layout.index, layout.stored, unfinished=True, as_given=layout.as_given)

    def finished(self) -> TableNote:
        """The note of the same table when all is there."""
        return replace(self, unfinished=False)

    @classmethod
    def of(cls, text: str | None) -> TableNote | None:
        """Read a comment; nothing where it is none of ours."""
        metric, index, stored, *rest = [*(text or "").removeprefix(OURS).split(", "), "", "", ""]
        if not (text or "").startswith(OURS) or metric not in list(Metric):
            return None
        if index not in get_args(IndexKind) or stored not in get_args(NumberForm):
            return None
        return cls(Metric(metric), index, stored, UNFINISHED in rest, CHANGED not in rest)  # type: ignore[arg-type]

    def __str__(self) -> str:
        """The comment, for a table."""
        words = {CHANGED: not self.as_given, UNFINISHED: self.unfinished}
        return OURS + ", ".join(
            [str(self.metric), self.index, self.stored, *(word for word, said in words.items() if said)]
        )
