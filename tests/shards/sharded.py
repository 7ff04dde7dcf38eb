"""A comparison over shards, in this process: for tests that hold it against one run."""

from __future__ import annotations

import random

import numpy as np

from offsphere import RankingVectors
from offsphere.shards.compare_question import CompareOptions
from offsphere.shards.compare_state import search_shard
from offsphere.shards.divided_task import DividedTask
from offsphere.shards.fit_state import FitState
from offsphere.shards.merged_evaluator import compared
from offsphere.shards.shard import Shard


def fit_states(task, documents, count):
    states, task = [], DividedTask.of(task)
    for number in range(1, count + 1):
        shard = Shard(number, count)
        rows, fits = shard.rows(len(documents)), shard.fitted_rows(len(documents))
        states.append(FitState.of(task, shard, documents[rows.start : rows.stop], documents[fits.start : fits.stop]))
    return states


def search_states(task, vectors, count, fitted, options):
    states, task = [], DividedTask.of(task, options.metric)
    for number in range(1, count + 1):
        shard = Shard(number, count)
        rows = shard.rows(len(vectors.documents))
        part = RankingVectors(vectors.queries, vectors.documents[rows.start : rows.stop])
        states.append(search_shard(task, shard, part, fitted, options))
    return states


def merged(states, seed=0):
    """Merge states in a random order and grouping."""
    states, rng = list(states), random.Random(seed)
    while len(states) > 1:
        first, second = (states.pop(rng.randrange(len(states))) for _ in range(2))
        states.append(first.merge(second))
    return states[0]


def compare_sharded(task, vectors, count, order=0, **options):
    asked = CompareOptions(**options)
    fitted = merged(fit_states(task, np.asarray(vectors.documents), count), order)
    return compared(merged(search_states(task, vectors, count, fitted, asked), order))
