"""Compare scorers on a task: all of them in one pass, held-out values, intervals, corrected tests."""

from __future__ import annotations

from collections.abc import Sequence

from offsphere.base.cache import Memo
from offsphere.base.errors import ParameterError
from offsphere.base.progress import Progress, in_phase, say
from offsphere.comparison.candidate_rows import candidate_rows
from offsphere.comparison.corpus_fit import fit_corpus
from offsphere.comparison.judged_table import TableOptions, judged_table, with_breakdown
from offsphere.comparison.list_source import ListRequest, ListSource
from offsphere.comparison.listing import make_lists, with_list_rows
from offsphere.comparison.storing import with_stored_rows
from offsphere.comparison.table import Comparison
from offsphere.comparison.tuning import tune_candidates
from offsphere.data.call_order import check_order
from offsphere.data.grouping import grouping_named
from offsphere.data.task import Task, TaskVectors
from offsphere.scoring.given_scorer import one_or_more
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.stored.stored_form import check_width, parse_stored
from offsphere.statistics.cross_validation import assign_folds
from offsphere.statistics.metrics import QualityMetric, parse_metric
from offsphere.vectors.lengths import are_equal, lengths
from offsphere.vectors.widths import refuse_two_widths


def compare(
    task: Task,
    vectors: TaskVectors,
    scorers: Scorer | str | Sequence[Scorer | str] | None = None,
    *,
    metric: str | None = None,
    folds: int = 5,
    seed: int = 0,
    permutations: int = 10_000,
    declared: str | None = None,
    deployed: str | None = None,
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
        deployed: the scorer that an index in use is set to: it is compared in any case, is planned too, and the verdict
            speaks of leaving it where it surely loses.
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
    check_numbers(folds, seed, worth)
    check_order("compare", task, vectors)
    if scorers is None:
        refuse_two_widths(*vectors.widths)
    chosen = metric_for(task, metric)
    forms = parse_stored(stored) if stored else []
    grouping = grouping_named(task.groups, by, task.name) if by is not None else None
    task.check(vectors)
    check_width(forms, vectors.dimension)
    fit = fit_corpus(vectors.fitted_on)
    evaluator = task.evaluator(
        vectors, chosen, assign_folds(task.units, folds, seed), in_phase(progress, "searching"), memo
    )
    asking = ListRequest(task, vectors, chosen, in_phase(progress, "other systems"), evaluator.memo)
    # first, so that what is wrong with them is said before the long search
    made, told = make_lists(lists, asking, evaluator)
    rows = candidate_rows(
        one_or_more(scorers) if scorers is not None else None,
        [deployed] if deployed is not None else [],
        fit.moments,
        chosen.agreement,
        one_width=len(set(vectors.widths)) == 1,
        # a vector of length zero is treated differently by different similarities, however equal the others are
        equal_lengths=fit.equal_lengths
        and not vectors.empty
        and (chosen.agreement == "query" or _query_lengths_equal(vectors)),
        more=more,
    )
    say(progress, "searching")
    named = rows.given is not None
    measured = tune_candidates(evaluator, rows.distinct, extra=not named, more=more)
    options = TableOptions(folds, seed, permutations, declared, deployed, worth)
    table, results = judged_table(
        task, options, fit, evaluator, rows, measured, vectors.unit_keys, told=told, progress=progress
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
            fit.moments,
            named=named,
            permutations=permutations,
            progress=progress,
        )
    return table if grouping is None else with_breakdown(table, grouping, named=named)


def check_numbers(folds: int, seed: int, worth: float | None) -> None:
    """Refuse numbers with which nothing can be divided or compared."""
    if folds < 2 or seed < 0:  # noqa: PLR2004
        raise ParameterError(f"folds = {folds}, seed = {seed}: cross-validation needs at least 2, a seed at least 0")
    if worth is not None and not worth > 0:
        raise ParameterError(f"worth = {worth}: the smallest gain that matters is above 0, such as 0.01")


def metric_for(task: Task, metric: str | None) -> QualityMetric:
    """Find the metric of that name, which must fit the kind of task; without a name the usual one."""
    chosen = parse_metric(metric or task.usual_metric)
    if not task.fits(chosen):
        raise ParameterError(f"metric {chosen.name} does not fit {task.name}: use {task.fitting_metrics}")
    return chosen


def _query_lengths_equal(vectors: TaskVectors) -> bool:
    """Tell whether the side that asks was normalised too."""
    asking, _ = vectors.sides
    return any(asking is side for side in vectors.fitted_on) or are_equal(lengths(asking))
