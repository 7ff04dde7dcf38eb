"""The result of a comparison: a row a scorer, best first, and one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any

from offsphere.base.arrays import Array
from offsphere.base.errors import UnknownNameError
from offsphere.base.plain import plain
from offsphere.comparison.plain_table import plain_table
from offsphere.scoring.scorer import Scorer
from offsphere.statistics.significance import Tally

ALPHA = 0.05


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Row:
    """One scorer's held-out value and how it differs from the baseline."""

    name: str
    value: float
    low: float
    high: float
    difference: float
    difference_low: float
    difference_high: float
    p: float | None  # corrected; nothing for the baseline itself
    scorer: Scorer  # fitted, with the parameters chosen on all queries: what one would deploy
    parameters: Mapping[str, float]  # of that scorer
    fold_parameters: Sequence[Mapping[str, float]] = field(default=())  # chosen for each fold, where tuned
    same_ranking_as: Sequence[str] = field(default=())
    tally: Tally | None = None  # against the baseline, query by query
    values: Array | None = None  # per query, where the metric has such values
    tuned: bool = False  # whether its parameters were chosen by cross-validation

    def __repr__(self) -> str:
        """The name, the value and what it gains, not the arrays."""
        gain = "" if self.p is None else f", {_gain(self)}, p = {self.p:.2g}"
        return f"Row({self.label}: {self.value:.4f}{gain})"

    @property
    def deployed(self) -> str:
        """The name of the scorer one would deploy."""
        return self.scorer.name if self.tuned else self.name

    @property
    def label(self) -> str:
        """The name of the scorer one would deploy, with a star where its parameters were tuned."""
        return f"{self.deployed} *" if self.tuned else self.name

    @property
    def better(self) -> bool:
        """Whether it is significantly better than the baseline."""
        return self.p is not None and self.p < ALPHA and self.difference > 0

    @property
    def worse(self) -> bool:
        """Whether it is significantly worse than the baseline."""
        return self.p is not None and self.p < ALPHA and self.difference < 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison:
    """Rows, best first, of one task under one metric.

    Args:
        metric: the name of the metric.
        task: what was compared on, in plain values.
        rows: a row for each scorer, the highest value first.
        baseline: the name of the row that all others are held against.
        folds: in how many parts the units were divided to tune parameters.
        seed: of folds, intervals and tests.
        notes: what one must know to read the values.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> rng = np.random.default_rng(0)
        >>> queries, documents = (rng.normal(size=(rows, 8)).astype(np.float32) for rows in (20, 60))
        >>> judged = {f"q{row}": {f"d{row}": 1} for row in range(20)}
        >>> task = osp.RankingTask.from_judgments(judged, [f"d{row}" for row in range(60)])
        >>> vectors = osp.RankingVectors.of(task, queries, documents)
        >>> table = osp.compare(task, vectors, ["dot", "query-normalized"])
        >>> [(row.name, list(row.same_ranking_as)) for row in table.rows]
        [('dot', ['query-normalized']), ('cosine', [])]
        >>> table["query-normalized"] is table["dot"]
        True
    """

    metric: str
    task: Mapping[str, Any]
    rows: Sequence[Row]
    baseline: str
    folds: int
    seed: int
    notes: Sequence[str] = field(default=())

    def __getitem__(self, name: str) -> Row:
        """Find the row of that name, or the row that ranks as what has that name.

        Args:
            name: as it is printed in the table, or the name of a scorer.

        Returns:
            The row.

        Raises:
            UnknownNameError: where nothing of that name was compared.
        """
        for row in self.rows:
            if name in (row.name, row.label, row.scorer.name, *row.same_ranking_as):
                return row
        raise UnknownNameError("row", name, [known for row in self.rows for known in (row.name, *row.same_ranking_as)])

    def __str__(self) -> str:
        """The best rows as a table, and the conclusion."""
        return plain_table(self)

    def __repr__(self) -> str:
        """The task, the size and the conclusion, not the arrays."""
        return f"Comparison({self.task['name']}, {self.metric}, {len(self.rows)} rows: {self.conclusion})"

    @property
    def best(self) -> Row:
        """The row with the highest value; not necessarily a significant one."""
        return self.rows[0]

    @property
    def chosen(self) -> Row:
        """The best row of those that are significantly better than the baseline, else the baseline."""
        return next((row for row in self.rows if row.better), self[self.baseline])

    @property
    def conclusion(self) -> str:
        """What to use, in one plain sentence."""
        count = len(self.rows) - 1
        tested = f"after correction for {count} comparison{'s' if count > 1 else ''}"
        first = self.best
        if isnan(self[self.baseline].value):
            return f"There is nothing to compare: {self.baseline} gives every pair the same score, or none a score."
        if len(self.rows) == 1:
            return f"There is nothing to choose: {first.name} and all that was compared rank alike."
        if self.chosen.better:
            row = self.chosen
            sentence = (
                f"Use {row.deployed}: {self.metric} {row.value:.4f} against {self[self.baseline].value:.4f} "
                f"for {self.baseline}, {_gain(row)}, p = {row.p:.2g} {tested}"
            )
        elif first.name == self.baseline:
            sentence = f"Use {self.baseline}: nothing ranks better than it ({self.metric} {first.value:.4f})"
        else:
            sentence = (
                f"Use {self.baseline}: no scorer is significantly better ({first.deployed} comes first with "
                f"{_gain(first)}, p = {first.p:.2g} {tested})"
            )
        made = "; all this on judgments that are made, not human" if self.task.get("judgments_made") else ""
        return f"{sentence}{self._on_length()}{made}."

    def to_json(self) -> dict[str, Any]:
        """Give everything as plain values, for JSON.

        Returns:
            The metric, the task, the conclusion and a list of rows; a value that is not a number becomes ``None``.
        """
        values = {
            "metric": self.metric,
            "task": dict(self.task),
            "baseline": self.baseline,
            "folds": self.folds,
            "seed": self.seed,
            "notes": list(self.notes),
            "conclusion": self.conclusion,
            "scorers": [_row_values(row) for row in self.rows],
        }
        return {name: plain(value) for name, value in values.items()}

    def _on_length(self) -> str:
        """Tell what the plain dot product does, since that is what most people ask."""
        try:
            dot = self["dot"]
        except UnknownNameError:
            return ""
        if dot.name == self.baseline or dot is self.chosen or dot.p is None:
            return ""
        if dot.worse:
            return f"; the dot product loses {-dot.difference:.4f} (p = {dot.p:.2g})"
        if dot.better:
            return f"; the dot product alone gains {dot.difference:.4f} (p = {dot.p:.2g})"
        return f"; between {self.baseline} and the dot product no difference was found (p = {dot.p:.2g})"


def _gain(row: Row) -> str:
    """Write the difference from the baseline and its interval."""
    return f"{row.difference:+.4f} [{row.difference_low:+.4f}, {row.difference_high:+.4f}]"


def _row_values(row: Row) -> dict[str, Any]:
    """Give one row as plain values."""
    return {
        "name": row.name,
        "same_ranking_as": list(row.same_ranking_as),
        "value": row.value,
        "low": row.low,
        "high": row.high,
        "difference": row.difference,
        "difference_low": row.difference_low,
        "difference_high": row.difference_high,
        "p": row.p,
        "parameters": dict(row.parameters),
        "fold_parameters": [dict(parameters) for parameters in row.fold_parameters],
        "win_tie_loss": list(row.tally) if row.tally is not None else None,
        "lowers": row.scorer.similarity.lowers,
    }
