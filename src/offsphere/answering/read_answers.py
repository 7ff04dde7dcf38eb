"""Have a reader answer from what each scorer finds, and compare the scorers by how right the answers are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from offsphere.answering.asking import AskingPlan, Failure, ask_all
from offsphere.answering.prompt import prompt_of
from offsphere.answering.read_task import QueryPassages, read_task
from offsphere.answering.reader import Reader
from offsphere.base.errors import DataError, OffsphereError, ParameterError
from offsphere.base.progress import Progress
from offsphere.comparison.compare_scorers import compare
from offsphere.comparison.table import Comparison
from offsphere.data.answered_task import AnsweredTask
from offsphere.data.call_order import check_order
from offsphere.data.grouping import grouping_named
from offsphere.data.items import texts_alone
from offsphere.data.task import Task, TaskVectors, check_kind, items_of
from offsphere.data.task_kinds import as_answered_task
from offsphere.data.task_vectors import RankingVectors
from offsphere.ranking.search import search
from offsphere.scoring.given_scorer import fitted_scorer
from offsphere.scoring.names import parse_scorer
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE

PASSAGES = 5


@dataclass(frozen=True, slots=True, eq=False)
class ReaderComparison:
    """Scorers compared by the answers of a reader that sees what each of them finds.

    Attributes:
        exact: By exact match.
        f1: By F1 over words.
        plan: What was asked.
        failures: By the id of the query, where the reader failed: these queries are in neither table.
    """

    exact: Comparison
    f1: Comparison
    plan: AskingPlan
    failures: dict[str, Failure]

    def __repr__(self) -> str:
        """The two tables, and how much failed."""
        return f"ReaderComparison({self.exact!r}, {self.f1!r}, {len(self.failures)} failures)"

    @property
    def sentences(self) -> list[str]:
        """What failed, by kind, and how to try it again."""
        if not self.failures:
            return []
        kinds = Counter(failure.kind for failure in self.failures.values())
        named = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
        first = next(iter(self.failures.values())).message
        failed = f"the reader failed on {len(self.failures):,} queries ({named}; {first})"
        return [f"{failed}: they are in neither table, nor counted as wrong. Run it again, and only these are asked"]

    def to_json(self) -> dict[str, Any]:
        """Give everything as plain values, for JSON."""
        return {
            "plan": self.plan._asdict(),
            "failures": {name: failure._asdict() for name, failure in self.failures.items()},
            "exact_match": self.exact.to_json(),
            "answer_f1": self.f1.to_json(),
        }


def read_answers(
    task: Task,
    vectors: TaskVectors,
    reader: Reader,
    scorers: Sequence[Scorer | str] = ("dot",),
    *,
    passages: int = PASSAGES,
    workers: int = 4,
    retries: int = 4,
    cache: bool = True,
    by: str | None = None,
    seed: int = 0,
    before: Callable[[AskingPlan], None] | None = None,
    progress: Progress | None = None,
) -> ReaderComparison:
    """Have a reader answer every question from the first passages of each scorer, and compare the scorers by that.

    Scorers that find the same passages for a question share its answer. Queries on which the reader failed under any
    scorer are left out of both tables.

    Args:
        task: Questions with answers, as ``load_task`` reads them.
        vectors: Of the task.
        reader: Whom to ask, as ``load_reader`` makes it.
        scorers: What to compare with cosine, by name or as scorers.
        passages: How many the reader sees.
        workers: How many prompts are asked at a time.
        retries: How often a prompt is asked again where the reader was busy or did not answer.
        cache: Whether answers are kept in the user's cache, and looked for there.
        by: The name of a field that groups the queries, such as type or hops, by which both tables are broken down.
        seed: Of intervals and tests.
        before: Told what it will cost, before anybody is asked.
        progress: Told how many prompts are answered.

    Returns:
        Both comparisons, what was asked and what failed.

    Raises:
        DataError: The task has no answers or no texts.
        OffsphereError: The reader answered nothing at all.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> from offsphere.answering.reader import FunctionReader
        >>> from offsphere.data.answered_task import AnsweredTask
        >>> from offsphere.data.items import ItemList
        >>> from offsphere.data.judgments import Judgment
        >>> from dataclasses import replace
        >>> names = [f"n{row}" for row in range(6)]
        >>> asked, passages = ItemList(names, names), ItemList(names, [f"it is {name}" for name in names])
        >>> task = AnsweredTask.build("six", asked, passages, [Judgment(name, name, 1.0) for name in names])
        >>> task = replace(task, answers=[[name] for name in names])
        >>> last_word = FunctionReader(lambda prompt: prompt.split("[1] it is ")[1].split()[0], "last word")
        >>> rows = np.eye(6, dtype=np.float32)
        >>> result = osp.read_answers(task, task.vectors(rows, rows), last_word, passages=1, cache=False)
        >>> result.exact["cosine"].value
        1.0
    """
    check_order("read_answers", task, vectors)
    answered = as_answered_task(task)
    if answered is None:
        raise DataError(f'{task.name} has no answers: add them to queries.jsonl ("answers": [...])')
    if by is not None:
        grouping_named(task.groups, by, task.name)  # a name that is spelt wrong is told before anybody is asked
    if passages < 1:
        raise ParameterError(f"passages = {passages}: a reader sees at least one")
    rows = check_kind(task, vectors, RankingVectors)
    parsed = [parse_scorer(scorer) if isinstance(scorer, str) else scorer for scorer in scorers]
    fitted = [fitted_scorer(scorer, rows.fitted_on) for scorer in [Scorer(COSINE), *parsed]]
    sets = _passage_sets(answered, rows, fitted, passages)
    questions, texts = (texts_alone(side, "a reader") for side in items_of(task, ": a reader reads texts"))
    number = {name: row for row, name in enumerate(answered.query_ids)}
    prompts = {key: prompt_of(questions[number[key[0]]], [texts[row] for row in key[1] if row >= 0]) for key in sets}
    answers = ask_all(
        reader,
        list(prompts.values()),
        workers=workers,
        retries=retries,
        cache=cache,
        before=before,
        progress=progress,
    )
    failures = {key[0]: answers.failed[prompt] for key, prompt in prompts.items() if prompt in answers.failed}
    kept = np.array([row for row, name in enumerate(answered.query_ids) if name not in failures], np.int64)
    if not len(kept):
        first = next(iter(failures.values()))
        raise OffsphereError(f"the reader answered no question under every scorer: {first.kind}, {first.message}")
    told: dict[QueryPassages, str] = {
        key: answers.told[prompt] for key, prompt in prompts.items() if prompt in answers.told
    }
    read, read_vectors = read_task(answered, told).only(kept), rows.only(kept)
    exact, f1 = (
        compare(read, read_vectors, fitted, metric=f"{label}@{passages}", by=by, seed=seed)
        for label in ("exact-match", "answer-f1")
    )
    return ReaderComparison(exact, f1, answers.plan, failures)


def _passage_sets(
    task: AnsweredTask, vectors: RankingVectors, scorers: Sequence[Scorer], passages: int
) -> list[QueryPassages]:
    """What each scorer finds for each query, each set of passages once."""
    tops = search(
        vectors.queries,
        vectors.documents,
        scorers,
        passages,
        ids=task.document_ids,
        excluded=task.excluded_pairs(),
    )
    keys = (
        (name, tuple(documents))
        for top in tops
        for name, documents in zip(task.query_ids, top.documents.tolist(), strict=True)
    )
    return list(dict.fromkeys(keys))
