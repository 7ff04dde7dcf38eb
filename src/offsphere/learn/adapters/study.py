"""A study: data to learn from and data to stop by, put apart once, for as many trainings as one likes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from offsphere.base.errors import DataError, MissingExtraError, ParameterError
from offsphere.base.progress import Progress
from offsphere.comparison.compare_scorers import metric_for
from offsphere.data.evaluator import value_of
from offsphere.data.task import EmbeddedTask
from offsphere.learn.adapters.adapter_recipe import Recipe
from offsphere.learn.data.apart import in_none_of, part_of, rows_apart
from offsphere.learn.data.pairs import TrainingPairs
from offsphere.scoring.adapter import Adapter
from offsphere.scoring.record import Training

HELD_OUT, HELD_OUT_AT_MOST = 0.15, 1_000  # of the queries, for early stopping
ORDER = "the two sides of a pair are treated differently, so a score depends on their order"


class Study:
    """Training pairs, held-out queries, and the probe that is looked at while training."""

    def __init__(
        self,
        task: EmbeddedTask,
        *,
        also: Sequence[EmbeddedTask] = (),
        held_out: EmbeddedTask | None = None,
        judged: Sequence[EmbeddedTask] = (),
        new_documents: bool = False,
        metric: str | None = None,
        seed: int = 0,
        repeat: int | None = None,
    ) -> None:
        """Put queries aside where none are given, and gather the pairs of the others.

        ``also`` are further tasks to learn from. What stands in one of the ``judged`` tasks too is not learned from.
        """
        try:
            from offsphere.learn.adapters.probe import Probe
        except ImportError as error:
            raise MissingExtraError("torch", "learn") from error
        if seed < 0:
            raise ParameterError(f"seed = {seed}: a seed is at least 0")
        task[0].check(task[1])
        _check_dimensions(task, [*also, *judged, *([held_out] if held_out is not None else [])])
        self.metric = metric_for(task[0], metric).name
        rows = np.arange(task[0].units)
        if held_out is None:
            share = min(HELD_OUT, HELD_OUT_AT_MOST / max(len(rows), 1))
            rows, aside = rows_apart(task[0], share, seed, by_document=new_documents)
            held_out = part_of(task, aside)
        learned = in_none_of(task, rows, judged)
        self.judged_too = len(rows) - len(learned)
        self.held_out = held_out
        self.seen = np.union1d(task[1].unit_keys()[learned], held_out[1].unit_keys())
        self.pairs = TrainingPairs.of(task, also, repeat, learned)
        folds = np.zeros(held_out[0].units, np.int64)
        self._evaluator = held_out[0].evaluator(held_out[1], metric_for(held_out[0], self.metric), folds)
        relevant = task[0].relevant_to_any()
        self.probe = Probe.of(held_out, seed, relevant)

    @property
    def symmetric(self) -> bool:
        """Whether both sides play one role, as those of pairs do."""
        return self.held_out[0].symmetric

    def evaluate(self, adapter: Adapter) -> float:
        """The held-out value."""
        return value_of(self._evaluator, self._evaluator.values([adapter.scorer])[0])

    def adapt(self, recipe: Recipe, seeds: Sequence[int], progress: Progress | None = None) -> Adapter:
        """Train with each seed, and keep the best."""
        from offsphere.learn.adapters.trainer import Trainer
        from offsphere.learn.objective.objective import objective_of

        if not len(seeds):
            raise ParameterError("seeds = 0: give at least one")
        recipe = recipe.resolved(pairs=self.symmetric)
        found = []
        for place, seed in enumerate(seeds):

            def show(step: int, total: int, said: str = "", /, *, place: int = place) -> None:
                if progress is not None:
                    which = f"seed {place + 1} of {len(seeds)}, " if len(seeds) > 1 else ""
                    progress(place * total + step, len(seeds) * total, which + said)

            found.append(Trainer(recipe, self.pairs, self.evaluate, self.probe, seed, show).run())
        runs = [trained.run for trained in found]
        best = int(np.argmax(np.nan_to_num([run.best for run in runs], nan=-np.inf)))
        adapter = found[best].adapter
        notes = self._notes(recipe)
        notes += [ORDER] if self.symmetric and not adapter.symmetric else []
        notes += [f"seed {run.seed}: {run.stopped}" for run in runs if run.broke]
        counts = {
            "pairs": self.pairs.distinct,
            "pairs_an_epoch": len(self.pairs),
            "held_out": self.held_out[0].units,
            "without_direction": self.pairs.left_out,
            "judged_too": self.judged_too,
            "negatives_masked": found[best].masked,
        }
        config = objective_of(recipe, self.pairs.distinct, combine=recipe.magnitude or "multiplied").config()
        dynamics = [row for trained in found for row in trained.dynamics]
        record = Training(recipe.config(), config, self.metric, counts, runs, best, dynamics, notes, learned=self.seen)
        return replace(adapter, record=record)

    def _notes(self, recipe: Recipe) -> list[str]:
        """What to mind about the data."""
        notes = []
        if recipe.batch > len(self.pairs):
            notes.append(f"a batch of {recipe.batch} is more than there are pairs: all {len(self.pairs)} are one batch")
        if self.pairs.left_out:
            notes.append(f"{self.pairs.left_out} positives have a vector of length zero and are left out")
        if self.judged_too:
            notes.append(
                f"{self.judged_too} {self.held_out[0].unit} are among those one judges by, and were not learned from"
            )
        return notes


def _check_dimensions(task: EmbeddedTask, others: Sequence[EmbeddedTask]) -> None:
    own = task[1].dimension
    for other, vectors in others:
        if vectors.dimension != own:
            raise DataError(
                f"the vectors of {other.name} have {vectors.dimension} dimensions, those of {task[0].name} {own}: "
                "use one model for all"
            )
