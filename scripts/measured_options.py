"""Real measurements to simulate from: every option of a comparison on a real task, measured once and kept."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsphere.base.cache import Memo
from offsphere.comparison.candidates import default_candidates, merge_candidates
from offsphere.comparison.complexity import Complexity, complexity_of
from offsphere.comparison.tuning import tune_candidates
from offsphere.data.task import EmbeddedTask
from offsphere.encode.embedded_task import EmbeddedSource
from offsphere.statistics.cross_validation import assign_folds
from offsphere.statistics.metrics import parse_metric
from offsphere.vectors.moments import Moments


class MeasuredOptions(NamedTuple):
    """What every option of every row reaches on every unit."""

    name: str
    gained: NDArray[np.float64]  # (units, options), less the baseline, which is the first option
    baseline: NDArray[np.float64]  # (units,)
    row: NDArray[np.int64]  # of each option: the number of the row it belongs to
    complexity: list[Complexity]

    @property
    def rows(self) -> list[NDArray[np.int64]]:
        """The options of each row."""
        return [np.flatnonzero(self.row == number) for number in range(int(self.row.max()) + 1)]


def load(data: Path, model: str) -> EmbeddedTask:
    """Read a task and embed it; vectors are kept where ``offsphere embed`` keeps them."""
    return EmbeddedSource(str(data), model).load()


def measured_options(data: Path, model: str, kept: Path) -> MeasuredOptions:
    """Measure every option that ``compare`` knows on a task, or read what an earlier run measured."""
    target = kept / f"{data.name}-{model}.npz"
    if not target.is_file():
        task, vectors = load(data, model)
        metric = parse_metric(task.usual_metric)
        evaluator = task.evaluator(vectors, metric, assign_folds(task.units, 5, 0), None, Memo())
        moments = Moments.of(np.concatenate([np.asarray(side) for side in vectors.fitted_on]))
        candidates = default_candidates(moments, by_query=metric.agreement == "query")
        distinct = merge_candidates(candidates, metric.agreement, equal_lengths=False)
        results = tune_candidates(evaluator, distinct, extra=True)
        columns = [evaluator.evaluation.to_choose_by(option) for result in results for option in result.options]
        flat = [
            (row, complexity_of(scorer, tuned=result.candidate.tuned))
            for row, result in enumerate(results)
            for scorer in result.candidate.options
        ]
        values = np.stack([column for column in columns if column is not None], axis=1)
        kept.mkdir(parents=True, exist_ok=True)
        np.savez(
            target,
            gained=values - values[:, :1],
            baseline=values[:, 0],
            row=np.array([row for row, _ in flat]),
            complexity=np.array([simple for _, simple in flat]),
        )
    stored = np.load(target)
    return MeasuredOptions(
        data.name,
        stored["gained"],
        stored["baseline"],
        stored["row"],
        [tuple(row) for row in stored["complexity"].tolist()],
    )
