"""One variant of an ablation, trained: tuned on held-out queries, then once a seed, and kept when it is finished."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Array
from offsphere.base.cache import Memo
from offsphere.base.digests import digest_of
from offsphere.base.version import code_version
from offsphere.data.evaluator import Evaluator
from offsphere.learn.ablation.variants import Variant
from offsphere.learn.adapters.adapter_recipe import Recipe
from offsphere.learn.adapters.adapter_setup import AdapterSetup
from offsphere.learn.objective.contrastive_options import ContrastiveOptions
from offsphere.scoring.adapter import Adapter


@dataclass(frozen=True, slots=True, eq=False)
class VariantRun:
    """One variant, trained: what was tried, what was chosen, and the measurements of every seed on every task."""

    trials: Array  # (trials, 3): temperature, rate, held-out value
    held_out: Array  # (seeds,)
    measured: Sequence[Array]  # one a task: (seeds, units, ...)
    exponents: Array  # (seeds, 2)
    seconds: float
    dynamics: Sequence[dict[str, float]]
    notes: Sequence[str]  # what went wrong, or is to be minded


class VariantFit(NamedTuple):
    """One training of a variant, adapter or encoder."""

    held_out: float
    exponents: tuple[float, float]
    measured: Callable[[], Sequence[Array]]  # on every task it is judged by; asked only of the best trial
    dynamics: Sequence[Mapping[str, Any]]
    notes: Sequence[str]


FitOne = Callable[[ContrastiveOptions, int], VariantFit]  # a recipe and a seed


def all_runs(
    memo: Memo,
    data: str,
    fit: FitOne,
    variants: Sequence[Variant],
    seeds: Sequence[int],
    progress: Callable[[int, int, str], None] | None,
) -> list[VariantRun]:
    """Every variant's run; ``progress`` counts trainings."""
    found = []
    total, done = sum(len(variant.budget) + len(seeds) - 1 for variant in variants), 0
    for variant in variants:

        def show(trainings: int, variant: Variant = variant, before: int = done) -> None:
            if progress is not None:
                progress(before + trainings, total, variant.name)

        found.append(kept_run(memo, data, fit, variant, seeds, show))
        done += len(variant.budget) + len(seeds) - 1
    return found


def kept_run(
    memo: Memo, data: str, fit: FitOne, variant: Variant, seeds: Sequence[int], show: Callable[[int], None]
) -> VariantRun:
    """A variant's run, from the folder where it was finished before; ``data`` says what else it depends on."""
    said = json.dumps([variant.recipe.config(), list(variant.budget), list(seeds)], default=str)
    name = f"variant-{digest_of([data.encode(), said.encode(), code_version()])}"

    def make() -> dict[str, NDArray[Any]]:
        run = _trained(fit, variant, seeds, show)
        columns = [name for name in (run.dynamics[0] if run.dynamics else {}) if name != "layer"]
        rows = [row for row in run.dynamics if row.get("layer") is None]
        return {
            "trials": run.trials,
            "held_out": run.held_out,
            "exponents": run.exponents,
            "seconds": np.array([run.seconds]),
            "columns": np.array(columns, dtype=str),
            "notes": np.array(run.notes, dtype=str),
            "dynamics": np.array([[row[name] for name in columns] for row in rows], np.float64),
            **{f"measured-{place}": part for place, part in enumerate(run.measured)},
        }

    found = memo.arrays(name, make)
    numbers = cast("dict[str, Array]", found)
    rows = [dict(zip(found["columns"].tolist(), row, strict=True)) for row in numbers["dynamics"].tolist()]
    places = [place for place in numbers if place.startswith("measured-")]
    return VariantRun(
        numbers["trials"],
        numbers["held_out"],
        [numbers[f"measured-{place}"] for place in range(len(places))],
        numbers["exponents"],
        float(numbers["seconds"][0]),
        rows,
        found["notes"].tolist(),
    )


def _trained(fit: FitOne, variant: Variant, seeds: Sequence[int], show: Callable[[int], None]) -> VariantRun:
    """Choose temperature and rate on held-out queries with the first seed, then train with every seed."""
    started = time.monotonic()
    trials, best = [], -1
    notes: list[str] = []
    chosen: list[VariantFit] = []
    for place, (temperature, rate) in enumerate(variant.budget):
        tried = fit(replace(variant.recipe, temperature=temperature, rate=rate), seeds[0])
        trials.append([temperature, rate, tried.held_out])
        notes += tried.notes
        if best_trial(np.array(trials)) != best:
            best, chosen = place, [tried]  # one that is not the best is not kept: an encoder is large
        show(place + 1)
    temperature, rate = variant.budget[best]
    measured = [chosen[0].measured()]
    exponents, held_out = [chosen[0].exponents], [chosen[0].held_out]
    for place, seed in enumerate(seeds[1:]):
        other = fit(replace(variant.recipe, temperature=temperature, rate=rate), seed)
        measured.append(other.measured())
        exponents.append(other.exponents)
        held_out.append(other.held_out)
        notes += other.notes
        show(len(variant.budget) + place + 1)
    return VariantRun(
        np.array(trials),
        np.array(held_out),
        [np.stack(parts) for parts in zip(*measured, strict=True)],
        np.array(exponents),
        time.monotonic() - started,
        [dict(row) for row in chosen[0].dynamics],
        list(dict.fromkeys(notes)),
    )


def adapters_of(setup: AdapterSetup, evaluators: Sequence[Evaluator]) -> FitOne:
    """Trainings of adapters on frozen vectors."""

    def fit(recipe: ContrastiveOptions, seed: int) -> VariantFit:
        adapter = setup.adapt(cast("Recipe", recipe), [seed])
        record = adapter.record
        assert record is not None
        return VariantFit(
            record.run.best,
            _exponents(adapter),
            lambda: [evaluator.values([adapter.scorer])[0] for evaluator in evaluators],
            record.dynamics,
            record.notes,
        )

    return fit


def best_trial(trials: Array) -> int:
    """The place of the highest held-out value; one that is no number is below all."""
    return int(np.argmax(np.nan_to_num(trials[:, 2], nan=-np.inf)))


def _exponents(adapter: Adapter) -> tuple[float, float]:
    """Of the output, as learned; where a head has divided already, those it divided by."""
    found = []
    for side, name in ((adapter.query, "query"), (adapter.document, "document")):
        found.append(side.head.output if side.head is not None else adapter.similarity.parameters[name])
    return found[0], found[1]
