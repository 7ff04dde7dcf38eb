"""What trainings of adapters share: the data, its pairs, the held-out value and the probe, made once for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from offsphere.base.errors import MissingExtraError, ParameterError
from offsphere.base.progress import Progress
from offsphere.comparison.compare_scorers import metric_for
from offsphere.data.evaluator import Evaluator, value_of
from offsphere.data.task import EmbeddedTask
from offsphere.encode.devices import usable_device
from offsphere.learning.adapters.adapter_recipe import Recipe
from offsphere.learning.adapters.start_maps import StartMaps
from offsphere.learning.data.pair_vectors import widths_of
from offsphere.learning.data.task_sources import VectorSource
from offsphere.learning.data.training_data import TrainingData
from offsphere.learning.data.training_pairs import VectorPairs
from offsphere.learning.part_progress import part_progress
from offsphere.learning.tracking import Tracking
from offsphere.scoring.adapter import Adapter
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE
from offsphere.scoring.training_record import Training

if TYPE_CHECKING:
    import torch

    from offsphere.learning.adapters.adapter_trainer import AdapterFit
    from offsphere.learning.adapters.vector_probe import VectorProbe

ORDER = "the two sides of a pair are treated differently, so a score depends on their order"


@dataclass(frozen=True, slots=True, eq=False)
class AdapterSetup:
    """Data put apart, the pairs to learn from, what measures held-out data, and the probe."""

    data: TrainingData[VectorSource]
    pairs: VectorPairs
    evaluator: Evaluator  # of the held-out data
    probe: VectorProbe
    device: torch.device  # where the maps and the batches are

    @classmethod
    def of(
        cls,
        task: EmbeddedTask,
        *,
        also: Sequence[EmbeddedTask] = (),
        held_out: EmbeddedTask | None = None,
        judged: Sequence[EmbeddedTask] = (),
        new_documents: bool = False,
        metric: str | None = None,
        seed: int = 0,
        repeat: int | None = None,
        device: str | None = None,
    ) -> AdapterSetup:
        """Put queries aside where no held-out data is given, and gather the pairs of the others.

        ``also`` are further tasks to learn from. What stands in one of the ``judged`` tasks is not learned from, nor is
        what stands in held-out data that is given; of queries that are put aside here, a copy under another id is.
        Adapters are trained on the ``device``, or on what torch finds.
        """
        try:
            from offsphere.learning.adapters.vector_probe import VectorProbe
        except ImportError as error:
            raise MissingExtraError("torch", "learn") from error
        computes = usable_device(device)
        data = TrainingData.of(
            VectorSource(*task),
            held_out=VectorSource(*held_out) if held_out is not None else None,
            judged=[VectorSource(*embedded) for embedded in judged],
            also=[VectorSource(*embedded) for embedded in also],
            new_documents=new_documents,
            metric=metric,
            seed=seed,
            learn_copies=True,  # as adapters always did: numbers that were published rest on it
        )
        pairs = data.pairs(repeat=repeat)
        stopped_by = data.held_out
        folds = np.zeros(stopped_by.task.units, np.int64)
        evaluator = stopped_by.task.evaluator(stopped_by.vectors, metric_for(stopped_by.task, data.metric), folds)
        return cls(data, pairs, evaluator, VectorProbe.of(data, seed, computes), computes)

    @property
    def symmetric(self) -> bool:
        """Whether both sides play one role, as those of pairs do."""
        return self.data.held_out.task.symmetric

    @property
    def baseline(self) -> Scorer:
        """What adapters are held against: cosine, or the closed-form start where the sides have two widths."""
        if len(set(widths_of(self.pairs))) == 1:
            return Scorer(COSINE)
        return StartMaps.of(self.pairs, Recipe(sides="untied")).adapter().scorer

    def evaluate(self, adapter: Adapter) -> float:
        """The held-out value of an adapter."""
        return value_of(self.evaluator, self.evaluator.values([adapter.scorer])[0])

    def adapt(
        self,
        recipe: Recipe,
        seeds: Sequence[int],
        progress: Progress | None = None,
        tracking: Tracking | None = None,
    ) -> Adapter:
        """Train with each seed, and keep the adapter with the best held-out value."""
        from offsphere.learning.adapters.adapter_trainer import AdapterTrainer

        if not len(seeds):
            raise ParameterError("seeds = 0: give at least one")
        recipe = recipe.resolved(pairs=self.symmetric)
        start = StartMaps.of(self.pairs, recipe)
        fits = []
        for number, seed in enumerate(seeds):
            label = f"seed {number + 1} of {len(seeds)}, " if len(seeds) > 1 else ""
            show = part_progress(progress, number, len(seeds), label)
            follows = tracking.named(f"seed {seed}") if tracking is not None and len(seeds) > 1 else tracking
            trainer = AdapterTrainer(
                recipe,
                self.pairs,
                self.evaluate,
                self.probe,
                seed=seed,
                progress=show,
                start=start,
                tracking=follows,
                device=self.device,
            )
            fits.append(trainer.run())
        best = int(np.argmax(np.nan_to_num([fit.run.best for fit in fits], nan=-np.inf)))
        return replace(fits[best].adapter, record=self._record(recipe, fits, best))

    def _record(self, recipe: Recipe, fits: Sequence[AdapterFit], best: int) -> Training:
        """The record of all trainings of a recipe, of which the one with number ``best`` was kept."""
        from offsphere.learning.objective.objective import objective_of

        data, pairs = self.data, self.pairs
        notes = self._notes(recipe)
        notes += [ORDER] if self.symmetric and not fits[best].adapter.symmetric else []
        notes += [f"seed {fit.run.seed}: {fit.run.stopped}" for fit in fits if fit.run.broke]
        return Training(
            recipe=recipe.config(),
            objective=objective_of(recipe, pairs.distinct, combine=recipe.magnitude or "multiplied").config(),
            metric=data.metric,
            counts={
                "pairs": pairs.distinct,
                "pairs_an_epoch": len(pairs),
                "held_out": data.held_out.task.units,
                "without_direction": pairs.left_out,
                "judged_too": data.judged_too,
                "negatives_masked": fits[best].masked,
            },
            runs=[fit.run for fit in fits],
            chosen=best,
            dynamics=[row for fit in fits for row in fit.dynamics],
            notes=notes,
            learned=np.union1d(data.source.vectors.unit_keys()[data.rows], data.held_out.vectors.unit_keys()),
        )

    def _notes(self, recipe: Recipe) -> list[str]:
        """What to mind about the data."""
        data, pairs, unit = self.data, self.pairs, self.data.held_out.task.unit
        notes = []
        if recipe.batch > len(pairs):
            notes.append(f"a batch of {recipe.batch} is more than there are pairs: all {len(pairs)} are one batch")
        if pairs.left_out:
            notes.append(f"{pairs.left_out} positives have a vector of length zero and are left out")
        if data.judged_too:
            notes.append(f"{data.judged_too} {unit} are among those one judges by, and were not learned from")
        if data.held_out_too:
            notes.append(f"{data.held_out_too} {unit} are among those training stops by, and were not learned from")
        return notes
