"""The main job: compare, measure, advise, and gather what a report shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from offsphere.auditing.advice import Advice, advise
from offsphere.auditing.audit_evidence import (
    changed_examples,
    exponent_curves,
    lists_to_turn,
    relevant_lengths,
    searched_lengths,
    text_lengths,
)
from offsphere.auditing.notable_documents import NotableDocuments, notable_documents
from offsphere.auditing.provenance import Clock, digests_of, versions
from offsphere.base.arrays import Array
from offsphere.base.cache import Memo
from offsphere.base.digests import digest_of
from offsphere.base.in_notebook import InNotebook, NotebookView
from offsphere.base.plain import plain
from offsphere.base.progress import Progress, in_phase, say
from offsphere.base.question_cache import question_memo
from offsphere.comparison.compare_scorers import compare
from offsphere.comparison.examples import Example
from offsphere.comparison.exponent_curve import ExponentCurve
from offsphere.comparison.goal import Goal
from offsphere.comparison.list_source import ListSource
from offsphere.comparison.rerankable import RerankableLists, queries_to_show
from offsphere.comparison.row import Row
from offsphere.comparison.table import Comparison
from offsphere.comparison.thresholds import DEFAULT_SCORERS, Thresholds, thresholds_for
from offsphere.comparison.verdict import recommended_choice
from offsphere.data.call_order import check_order
from offsphere.data.task import Task, TaskVectors
from offsphere.engines.deployed.deployment import Deployment
from offsphere.geometry.measurement import measure
from offsphere.geometry.shape import Geometry
from offsphere.learning.ablation.ablation import Ablation
from offsphere.learning.adapters.learn import Learned
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.training_record import Training


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Audit(InNotebook):
    """Everything an audit found: what ``audit`` returns and a report shows.

    Attributes:
        table: The comparison of scorers.
        shape: What the vectors look like.
        advice: What to use, and why.
        curves: The value at each exponent of the length: on raw vectors, and behind the recommended transforms.
        examples: Queries whose results change most between two scorers.
        compared: The names of those two scorers.
        differences: Query by query, the first of the two less the second.
        text_lengths: A row a document: characters of its text, length of its vector.
        relevant_lengths: Lengths of relevant documents, and of all others.
        provenance: Model, digests of the data, versions, seeds and seconds.
        learned: What adapters are worth, where some were trained.
        ablation: The grid of an ablation, where there was one.
        training: How the model that made the vectors was trained, where offsphere did.
        deployment: What is known of the index in use, where the vectors are its own.
        thresholds: Where to cut, where a promise was asked for.
        documents: Documents worth a look: hubs, those never found, the longest and the shortest.
        rerankable: Lists that the page ranks again as one turns its knobs; none for pairs.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> rows = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)
        >>> task = osp.PairTask("pairs", (rows @ rows[0]).astype(float))
        >>> audit = osp.audit(task, osp.PairVectors.of(task, np.tile(rows[0], (40, 1)), rows), cache=False)
        >>> audit.curves[0].transforms, len(audit.advice.verdict), audit.provenance["metric"]
        ('raw', 3, 'spearman')
    """

    table: Comparison
    shape: Geometry
    advice: Advice
    curves: Sequence[ExponentCurve]
    examples: Sequence[Example]
    compared: tuple[str, str]
    differences: Array | None
    text_lengths: Array | None
    relevant_lengths: tuple[Array, Array] | None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    learned: Learned | None = None
    ablation: Ablation | None = None
    training: Training | None = None
    deployment: Deployment | None = None
    thresholds: Thresholds | None = None
    documents: NotableDocuments | None = None
    rerankable: RerankableLists | None = None

    def __repr__(self) -> str:
        """The verdict, a sentence a line."""
        return repr(self.advice)

    def notebook_view(self) -> NotebookView:
        """The verdict, and the table that it rests on."""
        return self.table.notebook_view()._replace(sentences=self.advice.verdict)

    def records(self) -> list[dict[str, Any]]:
        """Give every row of the comparison with its numbers.

        Returns:
            A dictionary a row.
        """
        return self.table.records()

    def save(self, path: str | Path, engine: str | None = None) -> Path:
        """Write the report: a page one can send to a colleague, Markdown, or JSON.

        Args:
            path: A file that ends in ``.html``, ``.md`` or ``.json``; it appears whole or not at all.
            engine: The search engine whose settings a page shows first.

        Returns:
            The path.

        Raises:
            ParameterError: The name ends in something else.
            UnknownNameError: No engine of that name is known.
        """
        return self.report.page(self, path, engine)

    def to_json(self) -> dict[str, Any]:
        """Everything but the arrays behind the figures, as plain values for machines."""
        return {
            "advice": self.advice.to_json(),
            "comparison": self.table.to_json(),
            "geometry": self.shape.to_json(),
            "sweeps": plain(list(self.curves)),
            "examples": {"scorers": list(self.compared), "queries": plain(list(self.examples))},
            "provenance": plain(dict(self.provenance)),
            "learned": self.learned.to_json() if self.learned is not None else None,
            "ablation": self.ablation.to_json() if self.ablation is not None else None,
            "training": self.training.to_json() if self.training is not None else None,
            "deployment": self.deployment.to_json() if self.deployment is not None else None,
            "thresholds": self.thresholds.to_json() if self.thresholds is not None else None,
        }


def audit(
    task: Task,
    vectors: TaskVectors,
    *,
    metric: str | None = None,
    by: str | None = None,
    symmetric: bool | None = None,
    declared: str | None = None,
    model: Mapping[str, Any] | None = None,
    worth: float | None = None,
    stored: Sequence[str] = (),
    lists: Sequence[ListSource] = (),
    more: bool = False,
    goal: Goal | None = None,
    show: Sequence[str] = (),
    folds: int = 5,
    seed: int = 0,
    cache: bool = True,
    progress: Progress | None = None,
    learned: Learned | None = None,
    ablation: Ablation | None = None,
    training: Training | None = None,
    deployment: Deployment | None = None,
    table: Comparison | None = None,
) -> Audit:
    """Measure, compare and advise. What was searched is kept in the user's cache, so that a killed audit goes on.

    Args:
        task: The task, as ``load_task`` or ``load_embedded`` gives it.
        vectors: Its vectors.
        metric: What decides; ndcg@10 for rankings and spearman for pairs unless said.
        by: The name of a field that groups the queries, such as type or hops: the rows that matter stand in the report
            group by group.
        symmetric: Whether the two sides could be exchanged; unless said, as the family of the task has it.
        declared: The similarity that the model says it is to be scored with.
        model: What is known of what made the vectors.
        worth: The smallest gain that matters; 0.01, or 2 % of cosine's value where that is more, unless said.
        stored: Forms in which vectors could be stored, as for ``compare``: what each costs becomes part of the table.
        lists: Other systems, as for ``compare``: what each is worth becomes part of the table.
        more: Compare further transforms and priors too, as ``compare`` does.
        goal: A promise for which thresholds are sought: of the recommended scorer beside cosine, dot and cosine
            standardised query by query; for rankings.
        show: Ids of queries whose results the page is to hold, before those that change most.
        folds: Folds of the cross-validation that tunes free parameters.
        seed: Seed of folds, intervals and tests.
        cache: Whether to keep what was searched.
        progress: Called now and then with how far it is.
        learned: What adapters are worth on this task: becomes part of the report.
        ablation: What an ablation found on this task: becomes part of the report.
        training: How the model was trained: becomes part of the report.
        deployment: What is known of the index in use, as ``CollectionSource.deployment`` gives it: what its setting
            costs becomes part of the verdict.
        table: The comparison of this task, where it was made already, by the same options: over shards, say. What the
            model declares is what the comparison was told, unless it is said here.

    Returns:
        The evidence and the advice; ``offsphere.report.to_html`` makes a page of it.

    Example:
        Documents are as long as they are trusted, and relevant is what is near and trusted:

        >>> import numpy as np
        >>> import offsphere as osp
        >>> rng = np.random.default_rng(0)
        >>> documents = (rng.normal(size=(60, 8)) * np.exp(rng.normal(0, 0.6, (60, 1)))).astype(np.float32)
        >>> queries = documents[:30] + rng.normal(0, 0.2, (30, 8)).astype(np.float32)
        >>> nearest = np.argsort(-(queries @ documents.T), axis=1)[:, :3]
        >>> judged = {f"q{q}": {f"d{d}": 1.0 for d in row} for q, row in enumerate(nearest)}
        >>> task = osp.RankingTask.from_judgments(judged, [f"d{d}" for d in range(60)])
        >>> audit = osp.audit(task, osp.RankingVectors.of(task, queries, documents), cache=False)
        >>> audit.advice.name
        'dot'
        >>> audit.advice.verdict[1].partition(":")[0]
        'Vector length helps'
    """
    check_order("audit", task, vectors)
    queries_to_show(task, show)  # what is not there is said before the work
    clock = Clock()
    deployed = deployment.scorer.name if deployment is not None and deployment.scorer is not None else None
    with clock.step("digest"):
        digests = digests_of(task, vectors)
    asked = {"metric": metric, "folds": str(folds), "seed": str(seed)}
    question = digest_of(f"{name} {value}".encode() for name, value in (digests | asked).items())
    with question_memo(question) if cache else nullcontext(Memo()) as memo:
        with clock.step("compare"):
            if table is None:
                table = compare(
                    task,
                    vectors,
                    metric=metric,
                    folds=folds,
                    seed=seed,
                    declared=declared,
                    deployed=deployed,
                    worth=worth,
                    by=by,
                    stored=stored,
                    lists=lists,
                    more=more,
                    progress=in_phase(progress, "comparing"),
                    memo=memo,
                )
            # made elsewhere, it may not know what is in use: then it and the advice would begin with different words
            table = replace(table, declared=declared or table.declared, deployed=deployed or table.deployed)
        with clock.step("measure"):
            scorer = _scorer_to_measure(table)
            measuring = in_phase(progress, "measuring")
            shape = measure(task, vectors, scorer=scorer, table=table, seed=seed, progress=measuring, memo=memo)
        advice = advise(table, shape, symmetric=symmetric, deployment=deployment)
        say(progress, "exponents of the length")
        with clock.step("sweep"):
            curves = exponent_curves(task, vectors, table, advice.scorer, seed, memo)
        first, second = _two_best(table, advice)
        say(progress, "lists to turn")
        with clock.step("list"):
            rerankable = lists_to_turn(task, vectors, table, (first, second), show, seed, memo)
            examples = changed_examples(task, vectors, first, second, memo)
    thresholds = None
    if goal is not None:
        say(progress, "thresholds")
        with clock.step("threshold"):
            thresholds = thresholds_for(
                goal, task, vectors, (*DEFAULT_SCORERS, *_more_scorers(advice)), folds=folds, seed=seed
            )
    searched = searched_lengths(vectors)
    return Audit(
        table=table,
        shape=shape,
        advice=advice,
        curves=curves,
        examples=examples,
        compared=(first.deployed, second.deployed),
        differences=None if first.values is None or second.values is None else first.values - second.values,
        text_lengths=text_lengths(task, searched),
        relevant_lengths=relevant_lengths(task, searched),
        provenance={
            "model": dict(model or {}),
            "digests": digests,
            "versions": versions(),
            "seed": seed,
            "folds": table.folds,
            "metric": table.metric,
            "seconds": clock.seconds,
        },
        learned=learned,
        ablation=ablation,
        training=training,
        deployment=deployment,
        thresholds=thresholds,
        documents=notable_documents(task, shape, searched, advice.scorer.name),
        rerankable=rerankable,
    )


def _more_scorers(advice: Advice) -> list[Scorer]:
    """The recommended scorer, where it is none of those whose thresholds are sought anyway."""
    return [] if advice.scorer.name in DEFAULT_SCORERS else [advice.scorer]


def _scorer_to_measure(table: Comparison) -> Scorer | None:
    """The scorer whose hubs are looked at beside those of cosine and dot: the recommended one, if it is plain."""
    choice = recommended_choice(table)
    return choice.scorer if choice.better and choice.scorer.is_plain else None


def _two_best(table: Comparison, advice: Advice) -> tuple[Row, Row]:
    """What is recommended, and the best of the rest that ranks differently: cosine where it was beaten."""
    chosen = advice.choice.row
    if advice.choice.better:
        return chosen, table[table.baseline]
    rest = [row for row in table.rows if row is not chosen]
    return chosen, rest[0] if rest else chosen
