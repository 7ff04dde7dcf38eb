"""One variant of an ablation, trained: tuned on held-out queries, then once a seed, and kept when it is finished."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from offsphere.adapter import Adapter
from offsphere.learn.study import Study
from offsphere.learn.variants import Variant
from offsphere.measuring import Measuring
from offsphere.memo import Memo, code_version, digest_of

Array = NDArray[np.float64]


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


def kept_run(
    memo: Memo,
    data: str,
    study: Study,
    judged: Sequence[Measuring],
    variant: Variant,
    seeds: Sequence[int],
    show: Callable[[int], None],
) -> VariantRun:
    """A variant's run, from the folder where it was finished before."""
    said = json.dumps([variant.recipe.config(), list(variant.budget), list(seeds), study.metric], default=str)
    name = f"variant-{digest_of([data.encode(), said.encode(), code_version()])}"

    def make() -> dict[str, NDArray[Any]]:
        run = _trained(study, judged, variant, seeds, show)
        columns = list(run.dynamics[0]) if run.dynamics else []
        return {
            "trials": run.trials,
            "held_out": run.held_out,
            "exponents": run.exponents,
            "seconds": np.array([run.seconds]),
            "columns": np.array(columns, dtype=str),
            "notes": np.array(run.notes, dtype=str),
            "dynamics": np.array([[row[name] for name in columns] for row in run.dynamics]),
            **{f"measured-{place}": part for place, part in enumerate(run.measured)},
        }

    found = memo.arrays(name, make)
    numbers = cast("dict[str, Array]", found)
    rows = [dict(zip(found["columns"].tolist(), row, strict=True)) for row in numbers["dynamics"].tolist()]
    return VariantRun(
        numbers["trials"],
        numbers["held_out"],
        [numbers[f"measured-{place}"] for place in range(len(judged))],
        numbers["exponents"],
        float(numbers["seconds"][0]),
        rows,
        found["notes"].tolist(),
    )


def _trained(
    study: Study, judged: Sequence[Measuring], variant: Variant, seeds: Sequence[int], show: Callable[[int], None]
) -> VariantRun:
    """Choose temperature and rate on held-out queries with the first seed, then train with every seed."""
    started = time.monotonic()
    tried = []
    for place, (temperature, rate) in enumerate(variant.budget):
        tried.append(study.adapt(replace(variant.recipe, temperature=temperature, rate=rate), seeds[:1]))
        show(place + 1)
    trials = np.array([[*trial, _best(adapter)] for trial, adapter in zip(variant.budget, tried, strict=True)])
    best = best_trial(trials)
    temperature, rate = variant.budget[best]
    recipe = replace(variant.recipe, temperature=temperature, rate=rate)
    adapters = [tried[best]]
    for place, seed in enumerate(seeds[1:]):
        adapters.append(study.adapt(recipe, [seed]))
        show(len(variant.budget) + place + 1)
    scorers = [adapter.scorer for adapter in adapters]
    exponents = [_exponents(adapter) for adapter in adapters]
    record = adapters[0].record
    return VariantRun(
        trials,
        np.array([_best(adapter) for adapter in adapters]),
        [np.stack(measuring.values(scorers)) for measuring in judged],
        np.array(exponents),
        time.monotonic() - started,
        [dict(row) for row in record.dynamics] if record is not None else [],
        list(dict.fromkeys(note for adapter in (*tried, *adapters) if adapter.record for note in adapter.record.notes)),
    )


def best_trial(trials: Array) -> int:
    """The place of the highest held-out value; one that is no number is below all."""
    return int(np.argmax(np.nan_to_num(trials[:, 2], nan=-np.inf)))


def _best(adapter: Adapter) -> float:
    assert adapter.record is not None
    return adapter.record.run.best


def _exponents(adapter: Adapter) -> tuple[float, float]:
    """Of the output, as learned; where a head has divided already, those it divided by."""
    found = []
    for side, name in ((adapter.query, "query"), (adapter.document, "document")):
        found.append(side.head.output if side.head is not None else adapter.similarity.parameters[name])
    return found[0], found[1]
