"""Compare scorers on a task: all of them in one pass, held-out values, intervals, corrected tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from offsphere.base.cache import Memo
from offsphere.base.errors import ParameterError
from offsphere.base.progress import Progress, in_phase, say
from offsphere.comparison.breakdown import Grouped, break_down
from offsphere.comparison.candidates import (
    Candidate,
    default_candidates,
    merge_candidates,
    more_candidates,
    ranking_key,
)
from offsphere.comparison.list_source import Asked, ListSource
from offsphere.comparison.listing import make_lists, with_list_rows
from offsphere.comparison.long_tails import notes_on_long_tails
from offsphere.comparison.procedure import judge_choice, options_of
from offsphere.comparison.row import label_apart
from offsphere.comparison.row_tests import judge_rows
from offsphere.comparison.storing import with_stored_rows
from offsphere.comparison.table import Comparison
from offsphere.comparison.tuning import MeasuredCandidate, tune_candidates
from offsphere.data.call_order import check_order
from offsphere.data.grouping import Grouping, grouping_named
from offsphere.data.task import Task, TaskVectors
from offsphere.scoring.names import parse_scorer
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE
from offsphere.scoring.stored.stored_form import check_width, parse_stored
from offsphere.statistics.cross_validation import assign_folds
from offsphere.statistics.equivalence import usual_worth
from offsphere.statistics.metrics import Metric, parse_metric
from offsphere.vectors.blocks import Blocks
from offsphere.vectors.lengths import are_equal, lengths
from offsphere.vectors.moments import Moments
from offsphere.vectors.widths import refuse_two_widths

NARROW = (
    "whitening was fitted on {count:,} vectors of {dimensions:,} dimensions: directions in which these do not vary are "
    "dropped, so its rows tell how it ranks these documents, not how it would rank others"
)
NAMED_BEFORE = "p is right for scorers that were named before any look at these queries, too small for others"


def compare(
    task: Task,
    vectors: TaskVectors,
    scorers: Sequence[Scorer | str] | None = None,
    *,
    metric: str | None = None,
    folds: int = 5,
    seed: int = 0,
    permutations: int = 10_000,
    declared: str | None = None,
    asked: Sequence[str] = (),
    worth: float | None = None,
    by: str | None = None,
    stored: Sequence[str] = (),
    lists: Sequence[ListSource] = (),
    more: bool = False,
    progress: Progress | None = None,
    memo: Memo | None = None,
) -> Comparison:
    """Measure every scorer on a task and hold it against cosine.

    What has a free parameter is tuned by cross-validation over queries (or pairs), and only held-out values are
    reported.

    Args:
        task: queries, documents and judgments, or pairs with gold scores.
        vectors: of the task, lengths as the model gave them.
        scorers: names or scorers to compare with cosine; without them every similarity is compared, raw and under each
            transform. Those with transforms are fitted on the documents where they are not fitted yet. Vectors of two
            widths have no cosine: all scorers are adapters then, and the first is what the others are held against.
        metric: ndcg@10 for rankings and spearman for pairs unless named.
        folds: of the cross-validation.
        seed: of folds, intervals and tests.
        permutations: of the randomisation test behind each p.
        declared: the similarity that the model says it is to be scored with. Its row and that of the dot product are
            planned comparisons: their p stands alone, that of all others is corrected.
        asked: names of further scorers that were asked for before any look, such as what an index is set to: they are
            compared in any case, and are planned too.
        worth: the smallest gain that matters; 0.01, or 2 % of the baseline's value where that is more, unless said.
        by: the name of a field that groups the queries, such as type or hops: the table's ``breakdown`` has the rows
            that matter in each group.
        stored: forms in which vectors could be stored (``float16``, ``bfloat16``, ``int8``, ``binary``, ``dim=128``,
            ``dim=128+int8``, ``binary+rerank=8``): what each costs the baseline, the planned rows and what is
            recommended, or every scorer that was named, stands in the table's ``stored``.
        lists: other systems, such as ``osp.RunFile("bm25.run")``: what each is worth stands in the table's ``lists``.
        more: compare also layer normalisation, mean projection, whitening by the spectrum alone, and the length as a
            log-prior and as a free function. A p is then corrected for these too.
        progress: is told how far it is.
        memo: where what is searched is kept, and read from.

    Returns:
        A row for each scorer, best first, with intervals, p, what letting the tool choose is worth, and a conclusion.

    Raises:
        ParameterError: where folds, seed or metric do not fit the task, worth is no gain, or a stored form is cut to
            more dimensions than there are.
        UnknownNameError: where there is no stored form of that name.
        VectorError: where the vectors are not those of the task.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> rng = np.random.default_rng(0)
        >>> documents = (rng.normal(size=(200, 8)) * rng.lognormal(0, 1, (200, 1))).astype(np.float32)
        >>> queries = rng.normal(size=(40, 8)).astype(np.float32)
        >>> relevant = (queries @ documents.T).argmax(axis=1)  # the dot product is what matters here
        >>> judged = {f"q{query}": {f"d{document}": 1} for query, document in enumerate(relevant)}
        >>> task = osp.RankingTask.from_judgments(judged, [f"d{row}" for row in range(200)])
        >>> table = osp.compare(task, osp.RankingVectors.of(task, queries, documents), ["dot"])
        >>> [row.name for row in table.rows], table["dot"].value, table["dot"].better
        (['dot', 'cosine'], 1.0, True)
    """
    _check_numbers(folds, seed, worth)
    check_order("compare", task, vectors)
    if scorers is None:
        refuse_two_widths(*vectors.widths)
    chosen = metric_for(task, metric)
    forms = parse_stored(stored) if stored else []
    grouping = grouping_named(task.groups, by, task.name) if by is not None else None
    task.check(vectors)
    check_width(forms, vectors.dimension)
    moments, normalized = _moments_and_equality(vectors)
    evaluator = task.evaluator(
        vectors, chosen, assign_folds(task.units, folds, seed), in_phase(progress, "searching"), memo
    )
    asking = Asked(task, vectors, chosen, in_phase(progress, "other systems"), evaluator.memo)
    # first, so that what is wrong with them is said before the long search
    made, told = make_lists(lists, asking, evaluator)
    one_width = len(set(vectors.widths)) == 1
    given = _given_candidates([*scorers, *asked], moments, cosine=one_width) if scorers is not None else None
    rows = given if given is not None else default_candidates(moments, by_query=chosen.agreement == "query")
    rows = [*rows, *more_candidates(moments)] if more else rows
    # a vector of length zero is treated differently by different similarities, however equal the others are
    equal = normalized and not vectors.empty and (chosen.agreement == "query" or _query_lengths_equal(vectors))
    distinct = merge_candidates(rows, chosen.agreement, equal_lengths=equal)
    say(progress, "searching")
    measured = tune_candidates(evaluator, distinct, extra=given is None, more=more)
    results = _merge_families(measured, chosen)
    notes = ["the vectors are normalised: their length was discarded before they came here"] if normalized else []
    if folds > task.units:
        notes.append(f"{task.units} {task.unit} make {task.units} folds, not {folds}")
    if given is not None:
        notes.append(NAMED_BEFORE)
        notes += _notes_on_learned(given, vectors)
    if moments.count <= len(moments.mean) and given is None:
        notes.append(NARROW.format(count=moments.count, dimensions=len(moments.mean)))
    notes += told
    if task.made is not None:
        notes.append(f"the judgments were made by a program, not by people: {task.made}")
    notes += notes_on_long_tails(chosen, results)
    say(progress, "intervals and tests")
    tested, bound = judge_rows(
        chosen,
        evaluator.evaluation,
        results,
        folds=evaluator.folds,
        asked={"dot", *asked, *([declared] if declared is not None else [])},
        seed=seed,
        permutations=permutations,
    )
    say(progress, "testing the choice")
    best_first = np.argsort([-row.value for row in tested], kind="stable")  # what has no value comes last
    table = Comparison(
        metric=chosen.name,
        task=task.summary(),
        rows=label_apart([tested[number] for number in best_first]),
        baseline=tested[0].name,
        folds=min(folds, task.units),
        seed=seed,
        notes=notes,
        procedure=judge_choice(
            evaluator.evaluation, options_of(measured), folds=folds, seed=seed, permutations=permutations
        ),
        worth=worth if worth is not None else usual_worth(tested[0].value),
        most_to_gain=bound,
        declared=declared,
    )
    if made:
        table = with_list_rows(table, made, evaluator, results, permutations=permutations)
    if forms:
        table = with_stored_rows(
            table,
            forms,
            evaluator,
            vectors,
            results,
            moments,
            named=given is not None,
            permutations=permutations,
            progress=progress,
        )
    return table if grouping is None else _broken_down(table, grouping, seed, every_row=given is not None)


def _broken_down(table: Comparison, grouping: Grouping, seed: int, *, every_row: bool) -> Comparison:
    """The table with its rows in each group: of scorers those that were asked for, and of what is no scorer all."""
    scorers = [row for row in table.rows if every_row or row.planned or row is table.chosen]
    rows: list[Grouped] = [*scorers, *table.lists, *table.stored]
    return replace(table, breakdown=break_down(rows, table[table.baseline], grouping, seed))


def _check_numbers(folds: int, seed: int, worth: float | None) -> None:
    """Refuse numbers with which nothing can be divided or compared."""
    if folds < 2 or seed < 0:  # noqa: PLR2004
        raise ParameterError(f"folds = {folds}, seed = {seed}: cross-validation needs at least 2, a seed at least 0")
    if worth is not None and not worth > 0:
        raise ParameterError(f"worth = {worth}: the smallest gain that matters is above 0, such as 0.01")


def metric_for(task: Task, metric: str | None) -> Metric:
    """Find the metric of that name, which must fit the kind of task; without a name the usual one."""
    chosen = parse_metric(metric or task.usual_metric)
    if not task.fits(chosen):
        raise ParameterError(f"metric {chosen.name} does not fit {task.name}: use {task.fitting_metrics}")
    return chosen


def _given_candidates(scorers: Sequence[Scorer | str], moments: Moments, *, cosine: bool) -> list[Candidate]:
    """Make rows of the user's scorers, fitted where they are not, and of cosine as the baseline.

    Without ``cosine``, where the vectors have two widths, the first of the scorers is the baseline.
    """
    parsed = [parse_scorer(scorer) if isinstance(scorer, str) else scorer for scorer in scorers]
    fitted: dict[tuple[str, ...], Scorer] = {}
    for scorer in parsed:
        key = tuple(transform.key for transform in scorer.transforms)
        if scorer.transforms and scorer.map is None and key not in fitted:
            fitted[key] = scorer.fit(moments)
    fitted_here = {"", *(scorer.map_key for scorer in fitted.values())}
    rows = []
    for scorer in [*([Scorer(COSINE)] if cosine else []), *parsed]:
        if scorer.transforms and scorer.map is None:
            base = fitted[tuple(transform.key for transform in scorer.transforms)]
            scorer = replace(scorer, map=base.map)  # noqa: PLW2901
        rows.append(Candidate.fixed(scorer, "" if scorer.map_key in fitted_here else scorer.map_key))
    return _name_apart(rows)


def _name_apart(rows: Sequence[Candidate]) -> list[Candidate]:
    """Drop repetitions, and number different scorers that print the same name."""
    kept: dict[str, Candidate] = {}
    for row in rows:
        number = 1 + sum(earlier.name.partition(" #")[0] == row.name for earlier in kept.values())
        kept.setdefault(row.options[0].key, row if number == 1 else replace(row, name=f"{row.name} #{number}"))
    return list(kept.values())


def _notes_on_learned(rows: Sequence[Candidate], vectors: TaskVectors) -> list[str]:
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


def _moments_and_equality(vectors: TaskVectors) -> tuple[Moments, bool]:
    """Compute the moments of what transforms are fitted on, and whether all its lengths are equal."""
    total: Moments | None = None
    parts = []
    for block in Blocks.of(vectors.fitted_on):
        part = Moments.of(block)
        total = part if total is None else total.merge(part)
        parts.append(lengths(block))
    assert total is not None  # Blocks refuses an empty corpus
    return total, are_equal(np.concatenate(parts))


def _query_lengths_equal(vectors: TaskVectors) -> bool:
    """Tell whether the side that asks was normalised too."""
    asking, _ = vectors.sides
    return any(asking is side for side in vectors.fitted_on) or are_equal(lengths(asking))


def _merge_families(results: Sequence[MeasuredCandidate], metric: Metric) -> list[MeasuredCandidate]:
    """Drop a family that chose one and the same fixed scorer always, and name it in that scorer's row."""
    fixed = {
        ranking_key(candidate, 0, metric.agreement): number
        for number, (candidate, *_) in enumerate(results)
        if len(candidate.options) == 1 and candidate.options[0].is_plain
    }
    kept = dict(enumerate(results))
    for number, (candidate, tuned, *_) in enumerate(results):
        chosen = {*tuned.by_fold, tuned.overall}
        if len(candidate.options) == 1 or len(chosen) > 1 or not candidate.options[0].is_plain:
            continue
        home = fixed.get(ranking_key(candidate, tuned.by_fold[0], metric.agreement))
        if home is not None:
            first = kept[home].candidate
            kept[home] = kept[home]._replace(candidate=replace(first, same=(*first.same, candidate.name)))
            del kept[number]
    return list(kept.values())
