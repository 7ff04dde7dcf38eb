"""What a study keeps of an audit: the numbers that stand in its table, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from offsphere.auditing.run import Audit
from offsphere.base.plain import plain
from offsphere.base.short_repr import short_repr
from offsphere.comparison.row import Row
from offsphere.comparison.verdict import row_named
from offsphere.geometry.ceiling_options import LENGTH
from offsphere.statistics.estimate import Estimate

MeasuredChange = Mapping[str, Any]  # value, difference from cosine, its interval, and p


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StudyRow:
    """One task under one model, in numbers; what could not be measured is nothing."""

    task: str
    model: str
    metric: str
    units: int
    documents: int | None
    kind: str
    split: str | None
    symmetric: bool
    declared: str | None
    worth: float
    cosine: float | None
    scorers: Mapping[str, MeasuredChange]  # every compared scorer, by the name of its row
    recommended: str
    recommended_row: str
    choice: MeasuredChange | None  # what following the tool gains
    length_variation: float | None
    d: float | None
    d_adjusted: float | None
    d_within: float | None
    gini: float | None
    gini_by_chance: float | None
    wanted_again: float | None
    hub_skewness: float | None
    ceiling: MeasuredChange | None  # the best about documents alone
    ceiling_kind: str | None
    ceiling_length: MeasuredChange | None  # a curve of today's lengths
    ceiling_most: float | None
    learned: Mapping[str, MeasuredChange] = field(default_factory=dict)  # adapters, against cosine on the raw vectors
    verdict: list[str] = field(default_factory=list)
    page: str | None = None  # the audit's own report, relative to the study's

    __repr__ = short_repr

    @property
    def dot(self) -> MeasuredChange | None:
        """The dot product against cosine; nothing where the two cannot differ."""
        return self.scorers.get("dot")

    @property
    def label(self) -> str:
        """The task and the model, as the heat map names them."""
        return f"{self.task} · {self.model}"


def row_of(audit: Audit, name: str | None = None, model: str | None = None) -> StudyRow:
    """Take what a study needs from an audit.

    Args:
        audit: Of one task under one model.
        name: What the task is called; its own name unless said.
        model: What the model is called; what the audit knows unless said.

    Returns:
        The row.
    """
    table, shape, advice = audit.table, audit.shape, audit.advice
    task, relevance, ceiling, spread = table.task, shape.relevance, shape.ceiling, shape.spread
    length = ceiling.row(LENGTH) if ceiling is not None else None
    scorers = {row.name: _change(row) for row in table.rows}
    dot = row_named(table, "dot")
    if dot is not None and dot.p is not None:
        scorers["dot"] = _change(dot)
    procedure = table.procedure
    made_by = audit.provenance.get("model", {})
    return StudyRow(
        task=name or str(task["name"]),
        model=model or str(made_by.get("model", "given vectors")),
        metric=table.metric,
        units=int(task.get("queries", task.get("pairs", 0))),
        documents=task.get("documents"),
        kind=str(task["kind"]),
        split=task.get("split"),
        symmetric=advice.symmetric,
        declared=advice.declared,
        worth=table.worth,
        cosine=_number(table[table.baseline].value),
        scorers=scorers,
        recommended=advice.name,
        recommended_row=advice.choice.row.name,
        choice=_estimate(Estimate(procedure.gain, procedure.low, procedure.high), procedure.p)
        if procedure is not None
        else None,
        length_variation=shape.lengths[-1].variation if shape.lengths else None,
        d=_number(relevance.d.value) if relevance is not None else None,
        d_adjusted=_number(relevance.d_adjusted.value) if relevance is not None and relevance.d_adjusted else None,
        d_within=_number(relevance.within.d.value) if relevance is not None else None,
        gini=spread.gini if spread is not None else None,
        gini_by_chance=spread.gini_by_chance if spread is not None else None,
        wanted_again=spread.wanted_again if spread is not None else None,
        hub_skewness=shape.hubness[0].skewness if shape.hubness else None,
        ceiling=_estimate(ceiling.top.gain, ceiling.top.p) if ceiling is not None else None,
        ceiling_kind=ceiling.top.kind if ceiling is not None else None,
        ceiling_length=_estimate(length.gain, length.p) if length is not None else None,
        ceiling_most=_number(ceiling.most) if ceiling is not None else None,
        learned={row.name: _change(row) for row in audit.learned.table.rows} if audit.learned is not None else {},
        verdict=list(advice.verdict),
    )


def _change(row: Row) -> dict[str, Any]:
    change = _estimate(Estimate(row.difference, row.difference_low, row.difference_high), row.p)
    return {"value": _number(row.value), **change}


def _estimate(gain: Estimate, p: float | None) -> dict[str, Any]:
    value: dict[str, Any] = plain({"gain": gain.value, "low": gain.low, "high": gain.high, "p": p})
    return value


def _number(value: float) -> float | None:
    return float(value) if isfinite(value) else None
