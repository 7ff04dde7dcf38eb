"""The result of a comparison: a row a scorer, best first, and one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from math import inf, isfinite, nan
from typing import Any

from offsphere.base.errors import UnknownNameError
from offsphere.base.in_notebook import InNotebook, NotebookView
from offsphere.base.plain import plain
from offsphere.comparison.bias_verdict import bias_finding
from offsphere.comparison.breakdown import Breakdown
from offsphere.comparison.list_row import ListRow
from offsphere.comparison.lists_verdict import lists_finding
from offsphere.comparison.plain_table import plain_table, shown_cells
from offsphere.comparison.procedure import Procedure
from offsphere.comparison.row import Row
from offsphere.comparison.stored_row import StoredRow
from offsphere.comparison.storing_verdict import storing_finding
from offsphere.comparison.verdict import dot_finding, is_unreadable, recommended_choice, row_named, scorer_findings
from offsphere.statistics.equivalence import LEAST_WORTH
from offsphere.wording.finding import Finding


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(InNotebook):
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
        declared: the similarity that the model says it is to be scored with.
        deployed: the scorer that an index in use is set to.
        most_to_gain: what the best row really gains at most: an upper bound for all rows together, sure to 95 %.
        stored: what storing costs: a row for each scorer that matters and each stored form that was asked for.
        lists: other systems, the highest value first: what they rank is not a formula of these vectors, so that none of
            them is chosen, saved or exported.
        breakdown: the rows that matter in each group of queries, where that was asked for.

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
    _: KW_ONLY
    baseline: str
    folds: int
    seed: int
    notes: Sequence[str] = field(default=())
    procedure: Procedure | None = None
    worth: float = LEAST_WORTH
    most_to_gain: float = nan
    declared: str | None = None
    deployed: str | None = None
    stored: Sequence[StoredRow] = field(default=())
    lists: Sequence[ListRow] = field(default=())
    breakdown: Breakdown | None = None

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
            if name in (row.name, row.label, *row.same_ranking_as):
                return row
        for row in self.rows:  # a tuned row may have arrived at the very scorer of another
            if name == row.scorer.name:
                return row
        raise UnknownNameError("row", name, [known for row in self.rows for known in (row.name, *row.same_ranking_as)])

    def __str__(self) -> str:
        """The best rows as a table, and the conclusion."""
        return plain_table(self)

    def __repr__(self) -> str:
        """The task, the size and how the conclusion begins, not the arrays."""
        begins = self.conclusion.partition(":")[0].rstrip(".")
        return f"Comparison({self.task['name']}, {self.metric}, {len(self.rows)} rows: {begins})"

    @property
    def every_row(self) -> list[Row | ListRow]:
        """The rows of scorers and of other systems together, the highest value first."""
        rows: list[Row | ListRow] = [*self.rows, *self.lists]
        return sorted(rows, key=lambda row: -row.value if isfinite(row.value) else inf)

    @property
    def best(self) -> Row:
        """The row with the highest value; not necessarily a significant one."""
        return self.rows[0]

    @property
    def chosen(self) -> Row:
        """The row to deploy: what the tested procedure chooses, else a better planned row, else the baseline."""
        return recommended_choice(self).row

    @property
    def nothing_worth_having(self) -> bool:
        """Whether no scorer gains as much as matters, whichever is the best: equivalence, not mere lack of proof."""
        return self.most_to_gain < self.worth

    @property
    def findings(self) -> list[Finding]:
        """Which scorer to use and what it costs, what the dot product does, what to store, what other systems give."""
        choice = recommended_choice(self)
        dot = dot_finding(self)
        findings = scorer_findings(self, choice)[:1]
        told = is_unreadable(self) or choice.row is row_named(self, "dot")
        others = [bias_finding(choice), None if told else dot, storing_finding(self), lists_finding(self)]
        return [*findings, *(finding for finding in others if finding is not None)]

    @property
    def conclusion(self) -> str:
        """What to use, in a plain sentence or two."""
        return " ".join(finding.sentence for finding in self.findings)

    def notebook_view(self) -> NotebookView:
        """The conclusion and the table, as ``print`` shows them."""
        heads, rows, hidden = shown_cells(self)
        return NotebookView([finding.sentence for finding in self.findings], heads, rows, hidden)

    def records(self) -> list[dict[str, Any]]:
        """Give every row with its numbers, those of other systems too, the highest value first.

        Returns:
            A dictionary a row: ``to_pandas`` and ``to_polars`` make data frames of them.

        Example:
            >>> import numpy as np
            >>> import offsphere as osp
            >>> rows = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)
            >>> task = osp.PairTask("pairs", (rows @ rows[0]).astype(float))
            >>> vectors = osp.PairVectors.of(task, np.tile(rows[0], (40, 1)), rows)
            >>> [row["scorer"] for row in osp.compare(task, vectors, ["dot"]).records()]
            ['dot', 'cosine']
        """
        return [
            {
                "scorer": row.label,
                "what_it_does": row.phrase,
                "metric": self.metric,
                "value": row.value,
                "low": row.low,
                "high": row.high,
                "difference": row.difference,
                "difference_low": row.difference_low,
                "difference_high": row.difference_high,
                "p": row.p,
                "tuned": row.tuned,
            }
            for row in self.every_row
        ]

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
            "stored": [row.to_json() for row in self.stored],
            "lists": [row.to_json() for row in self.lists],
            "breakdown": self.breakdown.to_json() if self.breakdown is not None else None,
        }
        return {name: plain(value) for name, value in values.items()}


def _row_values(row: Row) -> dict[str, Any]:
    """Give one row as plain values."""
    return row.values_as_plain() | {
        "same_ranking_as": list(row.same_ranking_as),
        "planned": row.planned,
        "lowers": row.scorer.similarity.lowers,
    }
