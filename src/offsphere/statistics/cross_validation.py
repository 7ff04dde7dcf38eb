"""Cross-validation over queries: a parameter is chosen on some queries and judged on others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.statistics.evaluation import Evaluation


class TunedMeasurement(NamedTuple):
    """A family's held-out measurement, the option chosen for each fold, and the one chosen on everything."""

    measured: Array
    by_fold: list[int]
    overall: int


def assign_folds(units: int, folds: int, seed: int | Sequence[int]) -> Index:
    """Give each unit a fold at random, as evenly as can be."""
    return np.random.default_rng(seed).permutation(np.arange(units) % min(folds, units))


def few_folds(units: int, unit: str, folds: int) -> list[str]:
    """A sentence where there are fewer units than the folds that were asked for; nothing where there are as many."""
    return [f"{units} {unit} make {units} folds, not {folds}"] if folds > units else []


def tune(options: Sequence[Array], evaluation: Evaluation, folds: Index) -> TunedMeasurement:
    """Choose for every fold the option that is best on the other folds; measure the fold by it.

    Ties go to the first option. The choice on all units is what one would deploy; it is never used for a reported
    value.
    """
    by_fold = _choices([options] * _fold_count(folds), evaluation, folds)
    measured = evaluation.assemble(options, np.array(by_fold)[folds])
    return TunedMeasurement(measured, by_fold, best(options, evaluation, np.ones((1, evaluation.units))))


def tune_fold_options(options: Sequence[Sequence[Array]], evaluation: Evaluation, folds: Index) -> TunedMeasurement:
    """Tune options that were made from queries themselves: ``options[f]`` were made without those of fold f."""
    by_fold = _choices(options, evaluation, folds)
    chosen = [group[choice] for group, choice in zip(options, by_fold, strict=True)]
    whole = [evaluation.assemble(list(same), folds) for same in zip(*options, strict=True)]
    overall = best(whole, evaluation, np.ones((1, evaluation.units)))
    return TunedMeasurement(evaluation.assemble(chosen, folds), by_fold, overall)


def _choices(options: Sequence[Sequence[Array]], evaluation: Evaluation, folds: Index) -> list[int]:
    """Choose for every fold among its options by the units of all other folds."""
    others = [(folds != fold)[None, :].astype(np.float64) for fold in range(_fold_count(folds))]
    return [best(group, evaluation, weights) for group, weights in zip(options, others, strict=True)]


def _fold_count(folds: Index) -> int:
    return int(folds.max()) + 1


def best(options: Sequence[Array], evaluation: Evaluation, weights: Array) -> int:
    """Find the option with the highest value under these weights; the first where there is nothing to choose by.

    Where units have values to choose by, their mean decides, as it does in the test of what was chosen.
    """
    if not weights.any():
        return 0
    each = [evaluation.to_choose_by(option) for option in options]
    known = [part for part in each if part is not None]
    values = [float(weights[0] @ part) for part in known]
    if not known:
        values = [float(evaluation.evaluate(option, weights)[0]) for option in options]
    return int(np.argmax(np.nan_to_num(values, nan=-np.inf)))
