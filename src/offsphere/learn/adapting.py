"""``adapt``: contrastive learning on frozen vectors, in seconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from offsphere.adapter import Adapter
from offsphere.comparing import measuring_of
from offsphere.errors import DataError, MissingExtraError, ParameterError
from offsphere.learn.normalize import Normalize
from offsphere.learn.pairs import Held, TrainingPairs
from offsphere.learn.recipe import Recipe
from offsphere.learn.record import Training
from offsphere.metrics import parse_metric
from offsphere.tasks.info import units_of
from offsphere.tasks.pairs import PairTask
from offsphere.tasks.ranking import RankingTask
from offsphere.tasks.splits import split_task
from offsphere.tasks.vectors import PairVectors, RankingVectors

Index = NDArray[np.int64]
Progress = Callable[[int, int, str], None]

HELD_OUT, HELD_OUT_AT_MOST = 0.15, 1_000  # of the queries, for early stopping
FEWEST = 8  # queries to learn from and stop by


def adapt(
    task: RankingTask | PairTask,
    vectors: RankingVectors | PairVectors,
    *,
    normalize: Normalize = "both",
    recipe: Recipe | None = None,
    also: Sequence[Held] = (),
    held_out: Held | None = None,
    new_documents: bool = False,
    metric: str | None = None,
    seed: int = 0,
    seeds: int = 1,
    repeat: int | None = None,
    progress: Progress | None = None,
    **options: object,
) -> Adapter:
    """Train an adapter on a task's vectors as they are: whoever made them, nothing is encoded again.

    ``options`` are fields of a ``Recipe`` (sides, rank, magnitude, normalize_input, loss, temperature, vrns, ...).
    ``also`` are other tasks with vectors to learn from, such as the titles and texts of the corpus. Training stops by
    the value on ``held_out``, without it on queries put aside from the task, as they come; with ``new_documents`` on
    queries whose relevant documents are relevant to none that is learned from. With several ``seeds`` the one with the
    best held-out value is kept. The result is a transform; ``adapter.scorer`` is what was trained.
    """
    chosen = replace(recipe, **options) if recipe is not None else Recipe(normalize=normalize, **options)  # type: ignore[arg-type]
    if seeds < 1:
        raise ParameterError(f"seeds = {seeds}: give at least one")
    study = Study.of(
        (task, vectors),
        also=also,
        held_out=held_out,
        new_documents=new_documents,
        metric=metric,
        seed=seed,
        repeat=repeat,
    )
    return study.adapt(chosen, range(seed, seed + seeds), progress)


class Study:
    """Data to train on and to stop by, put apart once, for as many trainings as one likes."""

    def __init__(self, pairs: TrainingPairs, held_out: Held, metric: str, seed: int) -> None:
        """Prepare the held-out measurement."""
        try:
            from offsphere.learn.dynamics import Probe
        except ImportError as error:
            raise MissingExtraError("torch", "learn") from error
        self.pairs, self.held_out, self.metric = pairs, held_out, metric
        self._measuring = measuring_of(*held_out, parse_metric(metric), np.zeros(units_of(held_out[0]), np.int64))
        self.probe = Probe.of(held_out, seed)

    @classmethod
    def of(
        cls,
        task: Held,
        *,
        also: Sequence[Held] = (),
        held_out: Held | None = None,
        new_documents: bool = False,
        metric: str | None = None,
        seed: int = 0,
        repeat: int | None = None,
    ) -> Study:
        """Put queries aside where none are given, and gather the pairs of the others."""
        for _, vectors in also:
            if _dimension(vectors) != _dimension(task[1]):
                raise DataError(
                    f"vectors to learn from have {_dimension(vectors)} dimensions, the task's {_dimension(task[1])}: "
                    "use one model for all"
                )
        learning, aside = task, held_out
        if aside is None:
            share = min(HELD_OUT, HELD_OUT_AT_MOST / max(units_of(task[0]), 1))
            learning, aside = held_apart(task, share, seed, by_document=new_documents)
        chosen = metric or ("spearman" if isinstance(task[0], PairTask) else "ndcg@10")
        return cls(TrainingPairs.of(learning, also, repeat), aside, chosen, seed)

    def evaluate(self, adapter: Adapter) -> float:
        """The held-out value."""
        evaluation = self._measuring.evaluation
        (measured,) = self._measuring.values([adapter.scorer])
        return float(evaluation.evaluate(measured, np.ones((1, evaluation.units)))[0])

    def adapt(self, recipe: Recipe, seeds: Sequence[int], progress: Progress | None = None) -> Adapter:
        """Train with each seed, and keep the best."""
        from offsphere.learn.training import Trainer, objective_of

        recipe = recipe.resolved(pairs=isinstance(self.held_out[0], PairTask))
        notes = self._notes(recipe)
        found = []
        for place, seed in enumerate(seeds):

            def show(step: int, total: int, said: str, place: int = place) -> None:
                if progress is not None:
                    which = f"seed {place + 1} of {len(seeds)}, " if len(seeds) > 1 else ""
                    progress(place * total + step, len(seeds) * total, which + said)

            found.append(Trainer(recipe, self.pairs, self.evaluate, self.probe, seed, show).run())
        best = int(np.argmax(np.nan_to_num([trained.run.best for trained in found], nan=-np.inf)))
        notes += [f"seed {run.seed}: {run.stopped}" for run in (trained.run for trained in found) if run.broke]
        counts = {
            "pairs": self.pairs.distinct,
            "pairs_an_epoch": len(self.pairs),
            "held_out": self._measuring.evaluation.units,
            "without_direction": self.pairs.left_out,
            "negatives_masked": found[best].masked,
        }
        record = Training(
            recipe.config(),
            objective_of(recipe, self.pairs.distinct).config(),
            self.metric,
            counts,
            [trained.run for trained in found],
            best,
            [row for trained in found for row in trained.dynamics],
            notes,
        )
        return replace(found[best].adapter, record=record)

    def _notes(self, recipe: Recipe) -> list[str]:
        """What to mind before a training."""
        notes = []
        if recipe.batch > len(self.pairs):
            notes.append(f"a batch of {recipe.batch} is more than there are pairs: all {len(self.pairs)} are one batch")
        if isinstance(self.held_out[0], PairTask) and (recipe.exponents.one_sided or recipe.sides != "tied"):
            notes.append("the two sides of a pair are treated differently, so a score depends on their order")
        if self.pairs.left_out:
            notes.append(f"{self.pairs.left_out} positives have a vector of length zero and are left out")
        return notes


def held_apart(task: Held, share: float, seed: int, *, by_document: bool = False) -> tuple[Held, Held]:
    """A part to learn from and a part that is kept from it; ``by_document`` keeps relevant documents apart too."""
    one, vectors = task
    count = units_of(one)
    if count < FEWEST:
        raise DataError(
            f"{one.name} has {count} {'pairs' if isinstance(one, PairTask) else 'queries'} to learn from; learning and "
            f"stopping need at least {FEWEST}: give more"
        )
    if isinstance(one, PairTask) and isinstance(vectors, PairVectors):
        order = np.random.default_rng(seed).permutation(count)
        kept = max(3, int(share * count))
        return _pairs_of(one, vectors, np.sort(order[kept:])), _pairs_of(one, vectors, np.sort(order[:kept]))
    assert isinstance(one, RankingTask)
    assert isinstance(vectors, RankingVectors)
    parts = split_task(one, {"train": 1 - share, "kept": share}, seed=seed, by_document=by_document)
    place = {name: row for row, name in enumerate(one.query_ids)}
    found: list[Held] = []
    for part in parts.values():
        rows = np.array([place[name] for name in part.query_ids])
        found.append((part, replace(vectors, queries=vectors.queries[rows], query_tokens=None)))
    return found[0], found[1]


def _pairs_of(task: PairTask, vectors: PairVectors, rows: Index) -> Held:
    part = PairTask(task.name, task.gold[rows], split=task.split)
    return part, PairVectors(vectors.left[rows], vectors.right[rows])


def _dimension(vectors: RankingVectors | PairVectors) -> int:
    side = vectors.documents if isinstance(vectors, RankingVectors) else vectors.right
    return int(side.shape[1])
