"""Judging a model in training: texts encoded as anybody would, scored as trained and by cosine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sentence_transformers.base.evaluation import BaseEvaluator

from offsphere.base.arrays import Array
from offsphere.comparison.compare_scorers import metric_for
from offsphere.data.evaluator import Evaluator, value_of
from offsphere.data.task import Task, TaskVectors
from offsphere.encode.sentence import SentenceEncoder
from offsphere.learning.data.task_sources import TextSource
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE, DOT


def encode_task(model: Any, task: Task, name: str = "model") -> TaskVectors:
    """The vectors of a task with all stages of the model, the left side of pairs as queries."""
    training = model.training
    encoder = SentenceEncoder(name, name, keep_normalize=True, model=model)
    left, right = TextSource(task).sides
    queries, documents = encoder.encode(left, "query"), encoder.encode(right, "document")
    model.train(training)
    return task.vectors(queries, documents)


@dataclass(frozen=True, slots=True)
class TaskJudge:
    """A task to judge a model by. The stages of a prepared model have divided already: its score is the dot product."""

    task: Task
    metric: str

    def measure(self, model: Any) -> tuple[Evaluator, list[Array]]:
        """Measure a model: what measures it, and the measurements as trained and by cosine."""
        evaluator = self.evaluator(encode_task(model, self.task))
        return evaluator, evaluator.values([Scorer(DOT), Scorer(COSINE)])

    def values(self, model: Any) -> tuple[float, float]:
        """The value of a model as trained, and by cosine."""
        evaluator, (as_trained, by_cosine) = self.measure(model)
        return value_of(evaluator, as_trained), value_of(evaluator, by_cosine)

    def without_vectors(self) -> Evaluator:
        """An evaluator that only sums measurements up, where they are there already."""
        left, right = (np.zeros((len(side), 1), np.float32) for side in TextSource(self.task).sides)
        return self.evaluator(self.task.vectors(left, right))

    def evaluator(self, vectors: TaskVectors) -> Evaluator:
        """What measures vectors of this task."""
        folds = np.zeros(self.task.units, np.int64)
        return self.task.evaluator(vectors, metric_for(self.task, self.metric), folds)


class HeldOutEvaluator(BaseEvaluator):
    """A judge as an evaluator of sentence-transformers' own trainer."""

    def __init__(self, judge: TaskJudge) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.judge = judge
        self.primary_metric = judge.metric

    def __call__(self, model: Any, *_: Any, **__: Any) -> Mapping[str, float]:  # type: ignore[override]
        """The value of the model as trained, and by cosine, by their names."""
        value, cosine = self.judge.values(model)
        return {self.judge.metric: value, f"{self.judge.metric}_cosine": cosine}
