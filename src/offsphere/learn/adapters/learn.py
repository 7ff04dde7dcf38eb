"""What learning adds: adapters trained on some queries and judged on others, told honestly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any, NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Flags
from offsphere.base.plain import plain
from offsphere.base.progress import Progress
from offsphere.comparison.compare_scorers import NAMED_BEFORE, RESAMPLES, compare
from offsphere.comparison.table import Comparison, Row
from offsphere.data.task import EmbeddedTask
from offsphere.learn.adapters.adapter_recipe import Recipe
from offsphere.learn.adapters.adapter_setup import AdapterSetup
from offsphere.learn.data.task_sources import VectorSource
from offsphere.learn.data.training_data import divide
from offsphere.learn.part_progress import part_progress
from offsphere.scoring.adapter import Adapter
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import DOT
from offsphere.statistics.significance import bootstrap_means, interval

ADAPTERS = (Recipe(), Recipe(normalize="query"))  # what an audit tries: cosine, and length kept on the document
FEWEST_NEW = 20  # queries below which nothing is said of new documents


class NoveltyGain(NamedTuple):
    """The same queries twice: those whose relevant documents were positives in training, and the others."""

    name: str
    seen: int
    seen_before: float  # what the baseline is worth on them
    seen_after: float
    new: int
    new_before: float
    new_after: float
    new_low: float  # of the difference
    new_high: float
    apart_low: float  # of how much larger the gain is on what was learned from

    @property
    def sentence(self) -> str:
        """What a user must know who has new documents."""
        if not self.seen:
            return f"{self.name}: no query has a relevant document that was learned from, so all of this is on new ones"
        said = (
            f"{self.name}: {self.seen_before:.4f} -> {self.seen_after:.4f} on the {self.seen} queries with a relevant "
            f"document that was learned from"
        )
        if not self.new:
            return f"{said}; there are no others"
        gain = f"{self.new_after - self.new_before:+.4f} [{self.new_low:+.4f}, {self.new_high:+.4f}]"
        few = "; so few say little" if self.new < FEWEST_NEW else ""
        return f"{said}, {self.new_before:.4f} -> {self.new_after:.4f} on the other {self.new} ({gain}{few})"

    @property
    def warning(self) -> str | None:
        """Where the gain is larger on what was learned from, and does not reach what is new."""
        if not self.apart_low > 0 or self.new_low > 0 or self.new < FEWEST_NEW:
            return None
        what = "it loses" if self.new_high < 0 else "no gain was found"
        return f"it has learned these documents rather than the task: {what} where the relevant documents are new"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Learned:
    """Adapters, what they are worth on queries they never saw, and on which of them."""

    adapters: Sequence[Adapter]
    table: Comparison
    splits: Sequence[NoveltyGain]
    trained_on: Mapping[str, Any]
    notes: Sequence[str] = field(default=())

    def __repr__(self) -> str:
        """The conclusion."""
        return f"Learned({self.table.conclusion})"

    @property
    def sentences(self) -> list[str]:
        """The conclusion, and how far it reaches."""
        shown = [split for split in self.splits if split.name == self._best]
        found = [self.table.conclusion, *(f"{split.sentence}." for split in shown)]
        return found + [f"Mind: {split.warning}." for split in shown if split.warning is not None]

    @property
    def _best(self) -> str:
        names = {adapter.scorer.name for adapter in self.adapters}
        return next(row.scorer.name for row in self.table.rows if row.scorer.name in names)

    def to_json(self) -> dict[str, Any]:
        """Plain values for machines."""
        return {
            "comparison": self.table.to_json(),
            "trainings": [adapter.record.to_json() for adapter in self.adapters if adapter.record is not None],
            "splits": plain(list(self.splits)),
            "trained_on": plain(dict(self.trained_on)),
            "notes": list(self.notes),
        }


def learn(
    train: EmbeddedTask,
    test: EmbeddedTask | None,
    recipes: Sequence[Recipe],
    *,
    also: Sequence[EmbeddedTask] = (),
    new_documents: bool = False,
    metric: str | None = None,
    seed: int = 0,
    seeds: int = 1,
    progress: Progress | None = None,
) -> Learned:
    """Train an adapter for each recipe and compare them with cosine and dot product on the test queries.

    Nothing about the test queries decides anything. Without ``test`` some of the training queries are kept for it.
    """
    notes = []
    if test is None:
        division = divide(VectorSource(*train), seed, by_document=new_documents)
        train, test = division.train.embedded, division.test.embedded
        notes.append(division.note)
    setup = AdapterSetup.of(train, also=also, judged=[test], new_documents=new_documents, metric=metric, seed=seed)
    adapters = [
        setup.adapt(recipe, range(seed, seed + seeds), part_progress(progress, number, len(recipes)))
        for number, recipe in enumerate(recipes)
    ]
    table = compare(*test, [Scorer(DOT), *(adapter.scorer for adapter in adapters)], metric=metric, seed=seed)
    table = replace(table, notes=[note for note in table.notes if note != NAMED_BEFORE])
    splits: list[NoveltyGain] = []
    if test[0].relevant_to_any() is not None:
        flags = setup.data.seen(VectorSource(*test))
        baseline = table[table.baseline]
        splits = [split for row in table.rows for split in _split(row, baseline, flags)]
    for adapter in adapters:
        notes += [note for note in (adapter.record.notes if adapter.record is not None else []) if note not in notes]
    return Learned(adapters, table, splits, train[0].summary(), notes)


def _split(row: Row, baseline: Row, seen: Flags) -> list[NoveltyGain]:
    """Of an adapter's row, where the metric has a value a query."""
    if row.values is None or baseline.values is None or not row.scorer.transforms:
        return []
    before, after = baseline.values, row.values
    gained = after - before
    nothing = np.full(RESAMPLES, nan)
    known, other = (
        bootstrap_means(gained[flags][:, None], RESAMPLES)[:, 0] if flags.any() else nothing for flags in (seen, ~seen)
    )
    low, high = interval(other)
    apart = interval(known - other).low
    return [
        NoveltyGain(
            row.scorer.name,
            int(seen.sum()),
            _mean(before[seen]),
            _mean(after[seen]),
            int((~seen).sum()),
            _mean(before[~seen]),
            _mean(after[~seen]),
            float(low),
            float(high),
            float(apart),
        )
    ]


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else nan
