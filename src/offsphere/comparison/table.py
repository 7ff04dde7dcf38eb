"""The result of a comparison: a row a scorer, best first, and one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any

from offsphere.base.errors import UnknownNameError
from offsphere.base.plain import plain
from offsphere.comparison.choice import chosen_row
from offsphere.comparison.procedure import Procedure
from offsphere.comparison.row import Row
from offsphere.statistics.equivalence import LEAST_WORTH


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
        procedure: what letting the tool choose is worth on queries that took no part in the choice; nothing for pooled
            metrics, and where there is nothing to choose.
        worth: the smallest gain that matters.
        most_to_gain: what the best row really gains at most: an upper bound for all rows together, sure to 95 %.

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
    procedure: Procedure | None = None
    worth: float = LEAST_WORTH
    most_to_gain: float = nan

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

    def __repr__(self) -> str:
        """The task, the size and the conclusion, not the arrays."""
        return f"Comparison({self.task['name']}, {self.metric}, {len(self.rows)} rows: {self.conclusion})"

    @property
    def best(self) -> Row:
        """The row with the highest value; not necessarily a significant one."""
        return self.rows[0]

    @property
    def chosen(self) -> Row:
        """The row to deploy: what the tested procedure chooses, else a better planned row, else the baseline."""
        return chosen_row(self)[0]

    @property
    def nothing_worth_having(self) -> bool:
        """Whether no scorer gains as much as matters, whichever is the best: equivalence, not mere lack of proof."""
        return self.most_to_gain < self.worth

    @property
    def conclusion(self) -> str:
        """What to use, in one plain sentence."""
        first, baseline = self.best, self[self.baseline]
        if isnan(baseline.value):
            return f"There is nothing to compare: {self.baseline} gives every pair the same score, or none a score."
        if len(self.rows) == 1:
            return f"There is nothing to choose: {first.name} and all that was compared rank alike."
        row, by = chosen_row(self)
        if by == "procedure" and self.procedure is not None:
            nested = self.procedure
            sentence = (
                f"Use {nested.name}: choosing so by part of the {self._units} reaches {self.metric} "
                f"{nested.value:.4f} on the others, against {baseline.value:.4f} for {self.baseline}, "
                f"{nested.gain:+.4f} [{nested.low:+.4f}, {nested.high:+.4f}], p = {nested.p:.2g}"
            )
        elif by != "baseline":
            sentence = (
                f"Use {row.deployed}: {self.metric} {row.value:.4f} against {baseline.value:.4f} for {self.baseline}, "
                f"{_gain(row)}, p = {row.p:.2g} {self.tested(row)}"
            )
        elif first is baseline:
            sentence = f"Use {self.baseline}: nothing ranks better than it ({self.metric} {first.value:.4f})"
        elif self.nothing_worth_having:
            sentence = (
                f"Use {self.baseline}: no scorer gains as much as {self.worth:.2g} {self.metric} (the best at most "
                f"{self.most_to_gain:+.4f})"
            )
        else:
            sentence = (
                f"Use {self.baseline}: no scorer is significantly better ({first.deployed} comes first with "
                f"{_gain(first)}, p = {first.p:.2g} {self.tested(first)})"
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
            "worth": self.worth,
            "most_to_gain": self.most_to_gain,
            "procedure": self.procedure.to_json() if self.procedure is not None else None,
            "conclusion": self.conclusion,
            "scorers": [_row_values(row) for row in self.rows],
        }
        return {name: plain(value) for name, value in values.items()}

    @property
    def _units(self) -> str:
        return "pairs" if self.task["kind"] == "pairs" else "queries"

    def tested(self, row: Row) -> str:
        """Tell what the p of a row was corrected for.

        Args:
            row: of this comparison.

        Returns:
            Words to stand behind a p.
        """
        count = sum(not row.planned and row.p is not None for row in self.rows)
        return "for this comparison alone" if row.planned or count == 1 else f"corrected for {count} comparisons"

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
        "p_alone": row.p_alone,
        "planned": row.planned,
        "parameters": dict(row.parameters),
        "fold_parameters": [dict(parameters) for parameters in row.fold_parameters],
        "win_tie_loss": list(row.tally) if row.tally is not None else None,
        "lowers": row.scorer.similarity.lowers,
    }
