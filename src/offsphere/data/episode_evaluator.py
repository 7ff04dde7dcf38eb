"""What scorers are worth in episodes: each item is scored with the prototypes of its episode, and ranks them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.base.cache import Memo
from offsphere.base.progress import Progress
from offsphere.data.episode_vectors import EpisodeVectors
from offsphere.data.evaluator import Bank
from offsphere.scoring.scorer import Scorer
from offsphere.statistics.evaluation import MeanOverQueries
from offsphere.statistics.metrics import QualityMetric
from offsphere.vectors.lengths import lengths

AT_ONCE = 50  # episodes whose items are scored together


@dataclass(frozen=True, slots=True, eq=False)
class EpisodeEvaluator:
    """Measures scorers by the mean of a metric over the items of each episode."""

    vectors: EpisodeVectors
    shots: Index  # (episodes, ways, shots)
    targets: Index  # (episodes, items): the number of the right class
    metric: QualityMetric
    folds: Index
    progress: Progress | None = None
    memo: Memo = field(default_factory=Memo)

    @property
    def evaluation(self) -> MeanOverQueries:
        """A mean over episodes."""
        return MeanOverQueries(len(self.shots))

    @property
    def bank(self) -> Bank | None:
        """Nothing: an episode has too few classes for one of them to be a hub."""
        return None

    def values(self, scorers: Sequence[Scorer]) -> list[Array]:
        """Measure each scorer; those whose transforms do the same share the scoring."""
        by_map: dict[str, list[int]] = {}
        for number, scorer in enumerate(scorers):
            by_map.setdefault(scorer.map_key, []).append(number)
        measured: dict[int, Array] = {}
        for done, numbers in enumerate(by_map.values()):
            if self.progress is not None:
                self.progress(done, len(by_map))
            group = [scorers[number] for number in numbers]
            measured |= dict(zip(numbers, self._measure(group), strict=True))
        return [measured[number] for number in range(len(scorers))]

    def prototypes(self) -> Array:
        """The mean of each class's shots in each episode: (episodes, ways, dimensions)."""
        shots = self.vectors.rows.documents
        return np.stack([shots[rows].mean(axis=1, dtype=np.float64) for rows in self.shots])

    def _measure(self, scorers: Sequence[Scorer]) -> Array:
        """Score with scorers whose transforms do the same: (scorers, episodes)."""
        episodes, ways, _ = self.shots.shape
        prototypes = self.prototypes()
        flat = prototypes.reshape(episodes * ways, -1).astype(np.float32)
        documents = scorers[0].transform(flat).astype(np.float64)
        queries = scorers[0].transform(self.vectors.rows.queries, "query").astype(np.float64)
        query_lengths, document_lengths = lengths(queries), lengths(documents).reshape(episodes, ways)
        by_episode = documents.reshape(episodes, ways, -1)
        result = np.empty((len(scorers), episodes))
        for start in range(0, episodes, AT_ONCE):
            part = slice(start, start + AT_ONCE)
            asked = self.vectors.asked[part]
            dot = queries[asked] @ by_episode[part].transpose(0, 2, 1)  # (episodes, items, ways)
            left = np.broadcast_to(query_lengths[asked][:, :, None], dot.shape)
            right = np.broadcast_to(document_lengths[part][:, None, :], dot.shape)
            for number, scorer in enumerate(scorers):
                scores = scorer.similarity(dot.ravel(), left.ravel(), right.ravel()).reshape(dot.shape)
                result[number, part] = self._value(scores, self.targets[part])
        return result

    def _value(self, scores: Array, targets: Index) -> Array:
        """The metric of each episode: the mean over its items, each of which has one right class."""
        order = np.argsort(-scores, axis=2, kind="stable")
        gains = (order == targets[:, :, None]).astype(np.float64)
        flat = gains.reshape(-1, gains.shape[2])
        values = cast("Array", self.metric.function(flat, np.ones((len(flat), 1)), self.metric.depth))
        return np.asarray(values.reshape(targets.shape).mean(axis=1))
