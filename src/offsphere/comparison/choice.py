"""Which scorer to recommend: what the tested procedure chooses, else a better planned one, else the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from offsphere.comparison.complexity import complexity_of
from offsphere.comparison.row import Row
from offsphere.scoring.scorer import Scorer
from offsphere.statistics.agreeing_intervals import around_means
from offsphere.statistics.difference import Difference
from offsphere.statistics.max_t import max_t_by_signs
from offsphere.statistics.nested_choice import choose_option

if TYPE_CHECKING:
    from offsphere.comparison.table import Comparison

ChosenBy = Literal["procedure", "planned", "row", "baseline"]


class Choice(NamedTuple):
    """The row one would deploy, the best row, and why they differ where they do."""

    row: Row
    best: Row  # the row with the highest value of those that are significantly better than the baseline, else ``row``
    p_best: float | None  # of the difference between the two; nothing where they are one
    by: ChosenBy  # which test it rests on
    scorer: Scorer  # what one deploys: of the row, or the very one that the procedure chooses
    name: str  # of that scorer

    @property
    def better(self) -> bool:
        """Whether something is recommended because it beats the baseline."""
        return self.by != "baseline"


def choose(table: Comparison) -> Choice:
    """Choose what to deploy.

    What the procedure chooses, where following it gains significantly, and perhaps as much as matters. Else a planned
    row that is significantly better, and perhaps by as much. Else, of the rows that are so after correction, the
    simplest that is about as good as the best, by the rule of the procedure. Else the baseline.

    Args:
        table: of the comparison.

    Returns:
        The row to deploy, the best of the rows that are significantly better, and the test that the choice rests on.
    """
    row, by = chosen_row(table)
    best = next((better for better in table.rows if better.better), row) if by != "baseline" else row
    p_best = None if best is row else difference_p(best, row, table.seed)
    if by == "procedure" and table.procedure is not None:
        return Choice(row, best, p_best, by, table.procedure.scorer, table.procedure.name)
    return Choice(row, best, p_best, by, row.scorer, row.deployed)


def stay(table: Comparison) -> Choice:
    """Choose the baseline, whatever the numbers say."""
    row = table[table.baseline]
    return Choice(row, row, None, "baseline", row.scorer, row.deployed)


def chosen_row(table: Comparison) -> tuple[Row, ChosenBy]:
    """Find the row to deploy, and which test that rests on."""
    baseline, procedure = table[table.baseline], table.procedure
    follows = procedure is not None and procedure.better and procedure.high >= table.worth
    if procedure is not None and follows and procedure.name != table.baseline:
        return table[procedure.row], "procedure"
    better = [row for row in table.rows if row.better and row.difference_high >= table.worth]
    better = [row for row in better if row.deployed != table.baseline]  # a tuned row may have arrived at it
    planned = [row for row in better if row.planned]
    if planned:
        return planned[0], "planned"
    return (_simplest(better), "row") if better else (baseline, "baseline")


def _simplest(rows: Sequence[Row]) -> Row:
    """Take the simplest of those about as good as the best; the best where there are no values to tell by."""
    values = [row.values for row in rows if row.values is not None]
    if len(values) < len(rows):
        return rows[0]
    gained = np.stack(values, axis=1) - values[0][:, None]
    return rows[choose_option(gained, [complexity_of(row.scorer, tuned=row.tuned) for row in rows])]


def difference_of(first: Row, second: Row, seed: int) -> Difference | None:
    """The mean of one row less that of another, query by query, with its interval and p; nothing as below.

    Args:
        first: of a comparison.
        second: of the same.
        seed: of interval and test.
    """
    if first.values is None or second.values is None:
        return None
    apart = (first.values - second.values)[:, None]
    tests = max_t_by_signs(apart, seed=seed)
    around = around_means(apart, tests.reach)
    return Difference(float(apart.mean()), float(around.low[0]), float(around.high[0]), float(tests.alone[0]))


def difference_p(first: Row, second: Row, seed: int) -> float | None:
    """Test the difference of two rows, query by query; nothing where there is no value a query."""
    apart = difference_of(first, second, seed)
    return apart.p if apart is not None else None
