"""One variant of an ablation, trained: tuned on held-out queries, then once a seed; the training of a seed is kept."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Array
from offsphere.base.cache import Memo
from offsphere.base.digests import digest_of
from offsphere.base.progress import Progress
from offsphere.base.version import code_version
from offsphere.learning.ablation.probe_ends import ProbeEnds
from offsphere.learning.ablation.variants import Variant
from offsphere.learning.objective.contrastive_options import ContrastiveOptions
from offsphere.scoring.training_record import DynamicsRow


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class VariantRun:
    """One variant, trained: what was tried, what was chosen, and the measurements of every seed on every task."""

    trials: Array  # (trials, 3): temperature, rate, held-out value
    held_out: Array  # (seeds,)
    by_cosine: Array  # (seeds,) the same data, the same vectors, by cosine
    measured: Sequence[Array]  # one a task: (seeds, units, ...)
    exponents: Array  # (seeds, 2)
    seconds: float
    dynamics: Sequence[DynamicsRow]  # of the first seed
    ends: ProbeEnds  # of every seed
    notes: Sequence[str]  # what went wrong, or is to be minded


class VariantFit(NamedTuple):
    """One training of a variant, of an adapter or of an encoder."""

    held_out: float
    by_cosine: float  # the same data, the same vectors, by cosine
    exponents: tuple[float, float]
    measured: Callable[[], Sequence[Array]]  # on every task it is judged by; asked only of the best trial
    dynamics: Sequence[DynamicsRow]
    notes: Sequence[str]


COUNTED = ("step", "seed", "layer")  # whole numbers of the dynamics
FitOne = Callable[[ContrastiveOptions, int, str], VariantFit]  # a recipe, a seed, and what its training is called


def all_runs(
    memo: Memo,
    data: str,
    fit: FitOne,
    variants: Sequence[Variant],
    seeds: Sequence[int],
    progress: Progress | None,
) -> list[VariantRun]:
    """Every variant's run; ``progress`` counts trainings."""
    runs = []
    total, done = sum(len(variant.budget) + len(seeds) - 1 for variant in variants), 0
    for variant in variants:

        def show(trainings: int, variant: Variant = variant, before: int = done) -> None:
            if progress is not None:
                progress(before + trainings, total, variant.name)

        runs.append(kept_run(memo, data, fit, variant, seeds, show))
        done += len(variant.budget) + len(seeds) - 1
    return runs


def kept_run(
    memo: Memo, data: str, fit: FitOne, variant: Variant, seeds: Sequence[int], show: Callable[[int], None]
) -> VariantRun:
    """A variant's run; the first seed chooses temperature and rate on held-out queries for all.

    Each seed comes from the folder where it was finished before: a kill loses one training, and a run that asks for
    more seeds trains those that are new. ``data`` is a digest of what it depends on too.
    """

    def kept(settled: Variant, seed: int, before: int) -> VariantRun:
        settings = json.dumps([settled.recipe.config(), list(settled.budget), seed], default=str)
        name = f"variant-{digest_of([data.encode(), settings.encode(), code_version()])}"

        def make() -> dict[str, NDArray[Any]]:
            return _arrays_of_run(train_seed(fit, settled, seed, lambda trainings: show(before + trainings)))

        return _run_of_arrays(memo.arrays(name, make))

    first = kept(variant, seeds[0], 0)
    chosen = replace(variant, budget=[variant.budget[best_trial(first.trials)]])
    tried = len(variant.budget)
    return joined_runs([first, *(kept(chosen, seed, tried + number) for number, seed in enumerate(seeds[1:]))])


def train_seed(fit: FitOne, variant: Variant, seed: int, show: Callable[[int], None]) -> VariantRun:
    """Train with every temperature and rate of the budget, and measure the one that held-out queries like best."""
    started = time.monotonic()
    trials, best = [], -1
    notes: list[str] = []
    kept: list[VariantFit] = []
    for number, (temperature, rate) in enumerate(variant.budget):
        recipe = replace(variant.recipe, temperature=temperature, rate=rate)
        trial = fit(recipe, seed, _run_name(variant, temperature, rate, seed))
        trials.append([temperature, rate, trial.held_out])
        notes += trial.notes
        if best_trial(np.array(trials)) != best:
            best, kept = number, [trial]  # one that is not the best is not kept: an encoder is large
        show(number + 1)
    (chosen,) = kept
    return VariantRun(
        trials=np.array(trials),
        held_out=np.array([chosen.held_out]),
        by_cosine=np.array([chosen.by_cosine]),
        measured=[part[None] for part in chosen.measured()],
        exponents=np.array([chosen.exponents]),
        seconds=time.monotonic() - started,
        dynamics=[dict(row) for row in chosen.dynamics],
        ends=ProbeEnds.of([chosen.dynamics]),
        notes=list(dict.fromkeys(notes)),
    )


def joined_runs(runs: Sequence[VariantRun]) -> VariantRun:
    """The runs of several seeds as one; trials and dynamics are those of the first."""
    return VariantRun(
        trials=runs[0].trials,
        held_out=np.concatenate([run.held_out for run in runs]),
        by_cosine=np.concatenate([run.by_cosine for run in runs]),
        measured=[np.concatenate(parts) for parts in zip(*(run.measured for run in runs), strict=True)],
        exponents=np.concatenate([run.exponents for run in runs]),
        seconds=sum(run.seconds for run in runs),
        dynamics=runs[0].dynamics,
        ends=ProbeEnds.joined([run.ends for run in runs]),
        notes=list(dict.fromkeys(note for run in runs for note in run.notes)),
    )


def _run_name(variant: Variant, temperature: float | None, rate: float | None, seed: int) -> str:
    """What a tracker calls one of a variant's trainings."""
    return f"{variant.name}, temperature {temperature}, rate {rate}, seed {seed}"


def best_trial(trials: Array) -> int:
    """The number of the trial with the highest held-out value; one that is no number is below all."""
    return int(np.argmax(np.nan_to_num(trials[:, 2], nan=-np.inf)))


def _arrays_of_run(run: VariantRun) -> dict[str, NDArray[Any]]:
    """A run as arrays, to be kept in a file; a number of the dynamics that a row has not is none."""
    columns = list(dict.fromkeys(name for row in run.dynamics for name in row))
    rows = [[nan if row.get(name) is None else row[name] for name in columns] for row in run.dynamics]
    return {
        "trials": run.trials,
        "held_out": run.held_out,
        "by_cosine": run.by_cosine,
        "exponents": run.exponents,
        "seconds": np.array([run.seconds]),
        "columns": np.array(columns, dtype=str),
        "notes": np.array(run.notes, dtype=str),
        "end-columns": np.array(run.ends.columns, dtype=str),
        "ends": run.ends.values,
        "dynamics": np.array(rows, np.float64).reshape(len(rows), len(columns)),
        **{f"measured-{number}": part for number, part in enumerate(run.measured)},
    }


def _row_of_numbers(row: DynamicsRow) -> DynamicsRow:
    """A row of the dynamics again: that of a layer has its number and no others, that of all has no number."""
    of_layer = not isnan(row.get("layer", nan))
    kept = {name: value for name, value in row.items() if not (of_layer and isnan(value))}
    whole = {name: int(kept[name]) for name in COUNTED if name in kept and not isnan(kept[name])}
    return kept | whole | ({} if of_layer or "layer" not in row else {"layer": None})


def _run_of_arrays(arrays: Mapping[str, NDArray[Any]]) -> VariantRun:
    """A run from the arrays it was kept as."""
    numbers = cast("Mapping[str, Array]", arrays)
    columns = arrays["columns"].tolist()
    rows = [_row_of_numbers(dict(zip(columns, row, strict=True))) for row in numbers["dynamics"].tolist()]
    tasks = sum(name.startswith("measured-") for name in numbers)
    return VariantRun(
        trials=numbers["trials"],
        held_out=numbers["held_out"],
        by_cosine=numbers["by_cosine"],
        measured=[numbers[f"measured-{number}"] for number in range(tasks)],
        exponents=numbers["exponents"],
        seconds=float(numbers["seconds"][0]),
        dynamics=rows,
        ends=ProbeEnds(arrays["end-columns"].tolist(), numbers["ends"]),
        notes=arrays["notes"].tolist(),
    )
