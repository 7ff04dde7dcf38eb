"""Compare scorers on a task: all of them in one pass, held-out values, intervals, corrected tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from offsphere.base.cache import Memo
from offsphere.base.errors import ParameterError
from offsphere.base.progress import Progress
from offsphere.comparison.candidates import Candidate, default_candidates, merged, ranking_key
from offsphere.comparison.table import Comparison, Row
from offsphere.comparison.tuning import tuned_candidates
from offsphere.data.task import Task, TaskVectors
from offsphere.scoring.names import parse_scorer
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE
from offsphere.statistics.cross_validation import TunedMeasurement, assign_folds
from offsphere.statistics.evaluation import Evaluation
from offsphere.statistics.metrics import Metric, parse_metric
from offsphere.statistics.significance import bootstrap, bootstrap_p, holm, interval, randomization_test, win_tie_loss
from offsphere.vectors.blocks import Blocks
from offsphere.vectors.lengths import are_equal, lengths
from offsphere.vectors.moments import Moments

RESAMPLES = 2_000
NAMED_BEFORE = "p is right for scorers that were named before any look at these queries, too small for others"
POOLED_RESAMPLES = 400  # each one costs a walk through the whole pool


def compare(
    task: Task,
    vectors: TaskVectors,
    scorers: Sequence[Scorer | str] | None = None,
    *,
    metric: str | None = None,
    folds: int = 5,
    seed: int = 0,
    permutations: int = 10_000,
    progress: Progress | None = None,
    memo: Memo | None = None,
) -> Comparison:
    """Every scorer's value on the task, against cosine.

    Without ``scorers`` every similarity is compared, raw and under each transform. What has a free parameter is tuned
    by cross-validation over queries (or pairs), and only held-out values are reported. ``metric`` is ndcg@10 for
    rankings and spearman for pairs unless said otherwise. What is searched is kept in ``memo``, and read from there.
    """
    if folds < 2 or seed < 0:  # noqa: PLR2004
        raise ParameterError(f"folds = {folds}, seed = {seed}: cross-validation needs at least 2, a seed at least 0")
    chosen = metric_for(task, metric)
    task.check(vectors)
    moments, normalized = _looked_at(vectors)
    evaluator = task.evaluator(vectors, chosen, assign_folds(task.units, folds, seed), progress, memo)
    given = _given(scorers, moments) if scorers is not None else None
    rows = given if given is not None else default_candidates(moments, by_query=chosen.agreement == "query")
    # a vector of length zero is treated differently by different similarities, however equal the others are
    equal = normalized and not vectors.empty and (chosen.agreement == "query" or _query_lengths_equal(vectors))
    results = tuned_candidates(evaluator, merged(rows, chosen.agreement, equal_lengths=equal), extra=given is None)
    results = _fused(results, chosen)
    notes = ["the vectors are normalised: their length was discarded before they came here"] if normalized else []
    if given is not None:
        notes.append(NAMED_BEFORE)
        notes += _learned_from(given, vectors)
    if moments.count <= len(moments.mean) and given is None:
        notes.append(f"{moments.count} vectors in {len(moments.mean)} dimensions are too few to whiten by")
    if task.made is not None:
        notes.append(f"the judgments are made, not human: {task.made}")
    return _told(task, chosen, evaluator.evaluation, results, notes, (folds, seed, permutations))


def _learned_from(rows: Sequence[Candidate], vectors: TaskVectors) -> list[str]:
    """Warn of adapters that have seen some of these queries or pairs."""
    notes = []
    for row in rows:
        for transform in row.options[0].transforms:
            if transform.record is None or not len(transform.record.learned):
                continue
            keys = vectors.unit_keys()
            count = int(np.isin(keys, transform.record.learned).sum())
            if count:
                seen = f"{count:,} of these {len(keys):,}"
                notes.append(f"{row.name} was trained or stopped by {seen}: on them its value is no evidence")
    return notes


def metric_for(task: Task, metric: str | None) -> Metric:
    """The metric of that name, which must fit the kind of task; without a name the usual one."""
    chosen = parse_metric(metric or task.usual_metric)
    if not task.fits(chosen):
        raise ParameterError(f"metric {chosen.name} does not fit {task.name}: use {task.fitting_metrics}")
    return chosen


def _looked_at(vectors: TaskVectors) -> tuple[Moments, bool]:
    """Moments of what transforms are fitted on, and whether all its lengths are equal."""
    blocks = Blocks.of(vectors.fitted_on)
    total: Moments | None = None
    own = []
    for block in blocks:
        part = Moments.of(block)
        total = part if total is None else total.merge(part)
        own.append(lengths(block))
    assert total is not None  # Blocks refuses an empty corpus
    return total, are_equal(np.concatenate(own))


def _query_lengths_equal(vectors: TaskVectors) -> bool:
    asking, _ = vectors.sides
    return any(asking is side for side in vectors.fitted_on) or are_equal(lengths(asking))


def _fused(
    results: Sequence[tuple[Candidate, TunedMeasurement]], metric: Metric
) -> list[tuple[Candidate, TunedMeasurement]]:
    """A family that chose one and the same fixed scorer in every fold is that scorer: name it there."""
    fixed = {
        ranking_key(candidate.options[0], metric.agreement): place
        for place, (candidate, _) in enumerate(results)
        if len(candidate.options) == 1 and candidate.options[0].is_plain
    }
    kept = list(results)
    gone = set()
    for place, (candidate, tuned) in enumerate(results):
        if len(candidate.options) == 1 or len(set(tuned.by_fold)) > 1 or not candidate.options[0].is_plain:
            continue
        home = fixed.get(ranking_key(candidate.options[tuned.by_fold[0]], metric.agreement))
        if home is not None:
            first, found = kept[home]
            kept[home] = (replace(first, same=(*first.same, candidate.name)), found)
            gone.add(place)
    return [result for place, result in enumerate(kept) if place not in gone]


def _given(scorers: Sequence[Scorer | str], moments: Moments) -> list[Candidate]:
    """The user's scorers, fitted where they are not, and cosine as the baseline."""
    parsed = [parse_scorer(scorer) if isinstance(scorer, str) else scorer for scorer in scorers]
    fitted: dict[tuple[object, ...], Scorer] = {}
    rows = []
    for scorer in [Scorer(COSINE), *parsed]:
        if scorer.transforms and scorer.map is None:
            base = fitted.setdefault(scorer.transforms, scorer.fit(moments))
            scorer = replace(scorer, map=base.map)  # noqa: PLW2901  # scorers with one map share one product
        rows.append(Candidate.fixed(scorer))
    return _named_apart(rows)


def _named_apart(rows: Sequence[Candidate]) -> list[Candidate]:
    """Without repetitions; different scorers that print the same name get a number."""
    kept: dict[object, Candidate] = {}
    for row in rows:
        scorer = row.options[0]
        key = (scorer.transforms, scorer.similarity, id(scorer.bias), id(scorer.standardization))
        number = 1 + sum(other.name.partition(" #")[0] == row.name for other in kept.values())
        kept.setdefault(key, row if number == 1 else replace(row, name=f"{row.name} #{number}"))
    return list(kept.values())


def _told(
    task: Task,
    metric: Metric,
    evaluation: Evaluation,
    results: Sequence[tuple[Candidate, TunedMeasurement]],
    notes: Sequence[str],
    settings: tuple[int, int, int],
) -> Comparison:
    """Put intervals and tests around the held-out measurements."""
    folds, seed, permutations = settings
    measured = [tuned.measured for _, tuned in results]
    everything = np.ones((1, evaluation.units))
    values = np.array([evaluation.evaluate(row, everything)[0] for row in measured])
    samples = bootstrap(
        lambda weights: evaluation.evaluate_all(measured, weights),
        evaluation.units,
        count=RESAMPLES if metric.kind != "pooled" else POOLED_RESAMPLES,
        seed=seed,
    )  # (resamples, rows)
    own = interval(samples)
    gained = interval(samples - samples[:, :1])
    each = [part for part in map(evaluation.contributions, measured) if part is not None]
    p = np.zeros(0)
    if len(measured) > 1 and each:
        differences = np.stack(each[1:], axis=1) - each[0][:, None]
        p = holm(randomization_test(differences, permutations, seed))
    elif len(measured) > 1:
        p = holm(bootstrap_p(values[1:] - values[0], samples[:, 1:] - samples[:, :1]))
    per_query = metric.kind == "ranking"
    rows = []
    for place, (candidate, tuned) in enumerate(results):
        rows.append(
            Row(
                candidate.name,
                float(values[place]),
                float(own.low[place]),
                float(own.high[place]),
                float(values[place] - values[0]),
                float(gained.low[place]),
                float(gained.high[place]),
                float(p[place - 1]) if place else None,
                candidate.options[tuned.overall],
                candidate.parameters[tuned.overall],
                [candidate.parameters[option] for option in tuned.by_fold] if len(candidate.options) > 1 else [],
                candidate.same,
                win_tie_loss(measured[place] - measured[0]) if per_query else None,
                measured[place] if per_query else None,
            )
        )
    order = np.argsort(-values, kind="stable")
    return Comparison(metric.name, task.described(), [rows[place] for place in order], rows[0].name, folds, seed, notes)
