"""The training of one adapter with one seed: batches, steps, held-out values, the best state kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf, isfinite, isnan, nan
from typing import Any

import numpy as np
import torch

from offsphere.base.arrays import Index, Vectors
from offsphere.base.progress import Progress
from offsphere.learning.adapters.adapter_module import AdapterModule
from offsphere.learning.adapters.adapter_recipe import BETAS, Recipe
from offsphere.learning.adapters.start_maps import StartMaps
from offsphere.learning.adapters.vector_probe import VectorProbe
from offsphere.learning.data.mined_negatives import MinedNegatives
from offsphere.learning.data.pair_vectors import gather, widths_of
from offsphere.learning.data.training_pairs import VectorPairs
from offsphere.learning.objective.batch import Batch, FalseNegatives
from offsphere.learning.objective.objective import objective_of
from offsphere.learning.tracking import TrackedTraining, Tracking
from offsphere.scoring.adapter import Adapter
from offsphere.scoring.training_record import DynamicsRow, Run

Evaluate = Callable[[Adapter], float]

EPOCHS, LEAST_STEPS, MOST_PAIRS = 10, 500, 1_280_000  # without a number of epochs: classes have millions of pairs
IDENTITY = StartMaps()
EVALUATE_EVERY = (25, 128_000)  # steps at least, and pairs at most; between them once an epoch


@dataclass(slots=True)
class AdapterFit:
    """The result of one training: the adapter in its best state, and how it went."""

    adapter: Adapter
    run: Run
    dynamics: list[DynamicsRow]
    masked: int  # negatives that did not count, over all steps


class AdapterTrainer:
    """Trains one adapter on a device. The order of the data depends on the seed alone: it is that of all recipes."""

    def __init__(
        self,
        recipe: Recipe,
        pairs: VectorPairs,
        evaluate: Evaluate,
        probe: VectorProbe,
        *,
        seed: int,
        progress: Progress | None = None,
        start: StartMaps = IDENTITY,
        tracking: Tracking | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        self.recipe, self.pairs, self.evaluate, self.probe = recipe, pairs, evaluate, probe
        self.seed, self.progress = seed, progress
        self.size = min(recipe.batch, len(pairs))
        self.order, self.drawing = (np.random.default_rng([seed, stream]) for stream in (0, 1))
        self.device = torch.device(device)
        self.module = AdapterModule(widths_of(pairs), recipe, seed, start).to(self.device)
        self.objective = objective_of(recipe, pairs.distinct, combine=recipe.magnitude or "multiplied").to(self.device)
        groups = [*self.module.parameter_groups(), *self.objective.parameter_groups(recipe.own_rate)]
        self.optimizer = torch.optim.AdamW(groups, betas=BETAS, fused=True)
        self.mined: MinedNegatives | None = None
        self.masked = 0
        self.dynamics: list[DynamicsRow] = []
        self.history: list[tuple[int, float, float]] = []
        self.best: tuple[float, int, Any] = (-inf, 0, None)
        self.tracked = self._tracked(tracking) if tracking is not None else None

    def run(self) -> AdapterFit:
        """Train to the end, or until held-out values stop rising, or until the loss is no number."""
        started = time.monotonic()
        total, (least, most) = self._steps(), EVALUATE_EVERY
        every = max(least, min(len(self.pairs), most) // self.size)
        start = self._evaluate(0, [])
        self._measure_probe(0, nan, always=True)
        losses: list[float] = []
        done, stopped, broke = 0, "all steps done", False
        for step, chosen in zip(range(1, total + 1), self._batches(), strict=False):
            loss = self._step(chosen)
            evaluates = step % every == 0 or step == total
            if not isfinite(loss) or (evaluates and not self._all_finite()):
                stopped, broke = self._why_broken(step), True
                break
            done = step
            losses.append(loss)
            self._measure_probe(step, loss, always=step == total)
            if evaluates:
                self._evaluate(step, losses)
                losses = []
            if self.progress is not None:
                self.progress(step, total, f"held-out {self.history[-1][2]:.4f}")
            if evaluates and self._out_of_patience():
                stopped = f"no better held-out value in {self.recipe.patience} evaluations"
                break
        if self.progress is not None and done < total:
            self.progress(total, total, f"held-out {self.best[0]:.4f}")
        if self.tracked is not None:
            self.tracked.end()
        value, best_step, adapter = self.best
        seconds = round(time.monotonic() - started, 2)
        run = Run(
            seed=self.seed,
            start=start,
            best=value,
            best_step=best_step,
            steps=done,
            seconds=seconds,
            history=tuple(self.history),
            stopped=stopped,
            broke=broke,
        )
        return AdapterFit(adapter, run, self.dynamics, self.masked)

    def _tracked(self, tracking: Tracking) -> TrackedTraining:
        """The training as its trackers know it."""
        return TrackedTraining(
            tracking,
            max_steps=self._steps(),
            per_device_train_batch_size=self.size,
            learning_rate=self.recipe.rate,
            weight_decay=self.recipe.weight_decay,
            seed=self.seed,
        )

    def _batches(self) -> Iterator[Index]:
        """Batches of pairs without end, epoch after epoch."""
        while True:
            yield from self.pairs.batches(self.size, self.order)

    def _steps(self) -> int:
        """How many steps the training takes at most."""
        an_epoch = len(self.pairs) // self.size
        if self.recipe.epochs is not None:
            return self.recipe.epochs * an_epoch
        return max(min(EPOCHS * an_epoch, MOST_PAIRS // self.size), LEAST_STEPS)

    def _step(self, chosen: Index) -> float:
        """Take one step on a batch of pairs, and give its loss; a loss that is no number changes nothing."""
        loss = self.objective(self._batch(chosen))
        value = float(loss.detach())
        if isfinite(value):
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
        return value

    def _batch(self, chosen: Index) -> Batch:
        """Some pairs as a batch of mapped vectors, with mined negatives and what is no negative."""
        queries, documents = (self._tensor(side) for side in gather(self.pairs, chosen))
        query_keys, document_keys = self.pairs.keys(chosen)
        hard, hard_keys = self._hard(chosen)
        rows, relevant = self.pairs.relevant(query_keys)
        ignored = FalseNegatives.of(rows, relevant, document_keys, hard_keys)
        self.masked += len(ignored)
        ignored = ignored.to(self.device)
        queries, query_head = self.module(queries, "query")
        documents, document_head = self.module(documents, "document")
        hard, hard_head = self.module(hard, "document") if hard is not None else (None, None)
        with_heads = query_head is not None or document_head is not None
        heads = (query_head, document_head, hard_head) if with_heads else None
        return Batch(queries, documents, hard, ignored, heads)

    def _hard(self, chosen: Index) -> tuple[torch.Tensor | None, Index | None]:
        """Vectors of mined negatives for the batch's queries, and their keys; nothing where none are mined."""
        if self.mined is None:
            return None, None
        asked = self.pairs.queries[chosen[self.pairs.source[chosen] == 0]]
        rows = self.mined.draw(asked, self.recipe.hard_negatives, self.drawing)
        if not len(rows):
            return None, None
        source = self.pairs.sources[0]
        vectors = np.array(source.documents[rows], np.float32)
        return self._tensor(vectors), source.document_keys[rows]

    def _tensor(self, rows: Vectors) -> torch.Tensor:
        """Vectors where the maps are."""
        return torch.from_numpy(rows).to(self.device)

    def _evaluate(self, step: int, losses: list[float]) -> float:
        """Measure the held-out value, keep the adapter if it is the best so far, and mine new negatives by it."""
        adapter = self.module.adapter(self.objective)
        value = self.evaluate(adapter)
        self.history.append((step, float(np.mean(losses)) if losses else float("nan"), value))
        if self.tracked is not None:
            told = {"loss": self.history[-1][1]} if losses else {}
            self.tracked.log(step, {**told, "eval_held_out": value})
        if self.best[2] is None or isnan(self.best[0]) or value > self.best[0]:
            self.best = (value, step, adapter)
        if self.recipe.hard_negatives and self.objective.loss.across:  # else nobody would look at them
            self.mined = MinedNegatives.by(adapter.scorer, self.pairs, self.drawing)
        return value

    def _measure_probe(self, step: int, loss: float, *, always: bool = False) -> None:
        """Measure the probe every few steps, and ``always`` at both ends."""
        every = self.recipe.dynamics_every
        if every and len(self.probe.queries) > 1 and (always or step % every == 0):
            measured = self.probe.measure(self.module, self.objective)
            self.dynamics.append({"seed": self.seed, "step": step, "loss": loss, **measured})
            if self.tracked is not None:
                self.tracked.log(step, measured)

    def _all_finite(self) -> bool:
        """Whether the last step left finite weights: a loss can be finite and its gradient not."""
        parameters = [*self.module.parameters(), *self.objective.parameters()]
        return all(bool(parameter.isfinite().all()) for parameter in parameters)

    def _out_of_patience(self) -> bool:
        """Whether as many evaluations as the recipe has patience for brought no better value."""
        patience = self.recipe.patience
        since = len(self.history) - 1 - [step for step, _, _ in self.history].index(self.best[1])
        return patience is not None and since >= patience

    def _why_broken(self, step: int) -> str:
        """Why training ended at a step whose loss is no number, and what to do about it."""
        scale = self.objective.current_scale
        return (
            f"the loss is not a finite number at step {step}; kept is the state of step {self.best[1]}: lower the rate "
            f"({self.recipe.rate:g}), or raise the temperature (the scale is {scale:.3g})"
        )
