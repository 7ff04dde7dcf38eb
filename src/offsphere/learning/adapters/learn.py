"""``learn``: adapters trained on some queries and judged by others, and how far what they learned reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any, NamedTuple

import numpy as np

from offsphere.base.arrays import Flags
from offsphere.base.in_notebook import InNotebook, NotebookView
from offsphere.base.plain import plain
from offsphere.base.progress import Progress
from offsphere.comparison.compare_scorers import compare
from offsphere.comparison.judged_table import NAMED_BEFORE
from offsphere.comparison.row import Row
from offsphere.comparison.row_tests import RESAMPLES
from offsphere.comparison.table import Comparison
from offsphere.data.call_order import check_embedded
from offsphere.data.task import EmbeddedTask
from offsphere.learning.adapters.adapter_recipe import Recipe
from offsphere.learning.adapters.adapter_setup import AdapterSetup
from offsphere.learning.data.task_sources import VectorSource
from offsphere.learning.data.training_data import divide
from offsphere.learning.objective.exponents import write_normalize
from offsphere.learning.part_progress import part_progress
from offsphere.learning.tracking import Tracking
from offsphere.scoring.adapter import Adapter
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import DOT
from offsphere.statistics.significance import bootstrap_means, interval
from offsphere.statistics.values import mean_or_nan

ADAPTERS = (Recipe(), Recipe(normalize="query"))  # what an audit tries: cosine, and length kept on the document
FEWEST_NEW = 20  # queries below which nothing is said of new documents


class NoveltyGain(NamedTuple):
    """What an adapter gains on queries whose relevant documents were learned from, and on queries where all are new."""

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
        on_seen = (
            f"{self.name}: {self.seen_before:.4f} -> {self.seen_after:.4f} on the {self.seen} queries with a relevant "
            f"document that was learned from"
        )
        if not self.new:
            return f"{on_seen}; there are no others"
        gain = f"{self.new_after - self.new_before:+.4f} [{self.new_low:+.4f}, {self.new_high:+.4f}]"
        few = "; so few say little" if self.new < FEWEST_NEW else ""
        return f"{on_seen}, {self.new_before:.4f} -> {self.new_after:.4f} on the other {self.new} ({gain}{few})"

    @property
    def warning(self) -> str | None:
        """A warning where the gain is larger on what was learned from, and does not reach what is new."""
        if not self.apart_low > 0 or self.new_low > 0 or self.new < FEWEST_NEW:
            return None
        result = "it loses" if self.new_high < 0 else "no gain was found"
        return f"it has learned these documents rather than the task: {result} where the relevant documents are new"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Learned(InNotebook):
    """Adapters, what they are worth on queries they never saw, and on which of these.

    Args:
        adapters: One for each recipe, with the record of its training.
        table: All adapters, the dot product and cosine on the test queries.
        splits: What each adapter gains where relevant documents were learned from, and where they are new; nothing for
            pairs, which have no documents.
        trained_on: Name and counts of the data that was learned from.
        notes: What one must know to read the values.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> rng = np.random.default_rng(0)
        >>> documents = rng.standard_normal((60, 4)).astype(np.float32)
        >>> judged = {f"q{row}": {f"d{row}": 1.0} for row in range(60)}
        >>> task = osp.RankingTask.from_judgments(judged, [f"d{row}" for row in range(60)])
        >>> vectors = osp.RankingVectors.of(task, documents[:, ::-1].copy(), documents)
        >>> learned = osp.learn((task, vectors), None, [osp.Recipe(batch=32, rate=0.03, epochs=60)])
        >>> [adapter.scorer.name for adapter in learned.adapters]
        ['adapter(untied) + cosine']
        >>> learned.splits[0].sentence.partition(":")[2].strip()
        'no query has a relevant document that was learned from, so all of this is on new ones'
    """

    adapters: Sequence[Adapter]
    table: Comparison
    splits: Sequence[NoveltyGain]
    trained_on: Mapping[str, Any]
    notes: Sequence[str] = field(default=())

    def __repr__(self) -> str:
        """The conclusion of the comparison."""
        return f"Learned({self.table.conclusion})"

    @property
    def closed_form(self) -> Scorer | None:
        """The maps that adapters are held against where vectors have two widths; nothing where they have one."""
        scorer = self.table[self.table.baseline].scorer
        return scorer if scorer.transforms else None

    @property
    def sentences(self) -> list[str]:
        """What to use, and for the best adapter how far it reaches."""
        shown = [split for split in self.splits if split.name == self._best]
        sentences = [self.table.findings[0].sentence, *(f"{split.sentence}." for split in shown)]
        return sentences + [f"Mind: {split.warning}." for split in shown if split.warning is not None]

    @property
    def _best(self) -> str:
        """The name of the adapter that ranks first."""
        names = {adapter.scorer.name for adapter in self.adapters}
        return next(row.scorer.name for row in self.table.rows if row.scorer.name in names)

    def notebook_view(self) -> NotebookView:
        """What the best adapter is worth and how far it reaches, and the table."""
        return self.table.notebook_view()._replace(sentences=self.sentences)

    def records(self) -> list[dict[str, Any]]:
        """Give every row of the comparison with its numbers.

        Returns:
            A dictionary a row.
        """
        return self.table.records()

    def to_json(self) -> dict[str, Any]:
        """Give everything as plain values, for JSON."""
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
    tracking: Tracking | None = None,
    device: str | None = None,
) -> Learned:
    """Train an adapter for each recipe and compare them with cosine and dot product on the test queries.

    Nothing about the test queries decides anything, and none of them is learned from.

    Args:
        train: A task with its vectors, to learn from.
        test: A task with its vectors, to judge by; without it a share of the training queries is kept for that.
        recipes: How to train, an adapter for each.
        also: Further tasks with vectors to learn from.
        new_documents: Whether queries to stop by share no relevant document with those that are learned from.
        metric: By which adapters are stopped and judged; the usual one of the task without.
        seed: Of what is put aside, of the batches and of the tests.
        seeds: How many trainings each recipe has, from that seed on; the one with the best held-out value is kept.
        progress: Called now and then with how far it is.
        tracking: Who follows the training; nobody unless said.
        device: Where torch computes, as ``"cpu"`` or ``"cuda:1"``; what it finds unless said.

    Returns:
        The adapters, the table of the comparison, and what of the gain reaches new documents.

    Raises:
        OffsphereError: If there is too little to learn from, or the vectors do not fit; torch must be installed.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> rng = np.random.default_rng(0)
        >>> documents = rng.standard_normal((90, 4)).astype(np.float32)
        >>> judged = {f"q{row}": {f"d{row}": 1.0} for row in range(90)}
        >>> task = osp.RankingTask.from_judgments(judged, [f"d{row}" for row in range(90)])
        >>> vectors = osp.RankingVectors.of(task, documents[:, ::-1].copy(), documents)  # coordinates in another order
        >>> learned = osp.learn((task, vectors), None, [osp.Recipe(batch=32, rate=0.03, epochs=60)])
        >>> learned.table.rows[0].scorer.name
        'adapter(untied) + cosine'
        >>> learned.notes[0]
        'there is no other split to judge by: 30% of the queries were kept from training, and the values are of those'
    """
    check_embedded("learn", "train", train)
    if test is not None:
        check_embedded("learn", "test", test)
    notes = []
    if test is None:
        division = divide(VectorSource(*train), seed, by_document=new_documents)
        train, test = division.train.embedded, division.test.embedded
        notes.append(division.note)
    setup = AdapterSetup.of(
        train, also=also, judged=[test], new_documents=new_documents, metric=metric, seed=seed, device=device
    )
    adapters = [
        setup.adapt(recipe, range(seed, seed + seeds), part_progress(progress, number, len(recipes)), follows)
        for number, (recipe, follows) in enumerate(zip(recipes, _tracked(tracking, recipes), strict=True))
    ]
    before = Scorer(DOT) if setup.baseline.map is None else setup.baseline  # two widths have no dot product
    table = compare(*test, [before, *(adapter.scorer for adapter in adapters)], metric=metric, seed=seed)
    table = replace(table, notes=[note for note in table.notes if note != NAMED_BEFORE])
    splits: list[NoveltyGain] = []
    if test[0].relevant_to_any() is not None:
        flags = setup.data.seen_units(VectorSource(*test))
        baseline = table[table.baseline]
        splits = [gain for row in table.rows if (gain := _novelty_gain(row, baseline, flags)) is not None]
    for adapter in adapters:
        notes += [note for note in (adapter.record.notes if adapter.record is not None else []) if note not in notes]
    return Learned(adapters, table, splits, train[0].summary(), notes)


def _tracked(tracking: Tracking | None, recipes: Sequence[Recipe]) -> list[Tracking | None]:
    """Who follows the training of each recipe; several have a number each."""
    if tracking is None or len(recipes) == 1:
        return [tracking] * len(recipes)
    return [
        tracking.named(f"{number + 1}, {write_normalize(recipe.normalize)}") for number, recipe in enumerate(recipes)
    ]


def _novelty_gain(row: Row, baseline: Row, seen: Flags) -> NoveltyGain | None:
    """What an adapter's row gains over the baseline; nothing for other rows, or where the metric has no value a query.

    ``seen`` flags the queries that have a relevant document which was learned from.
    """
    if row is baseline or row.values is None or baseline.values is None or not row.scorer.transforms:
        return None
    before, after = baseline.values, row.values
    gained = after - before
    nothing = np.full(RESAMPLES, nan)
    on_seen, on_new = (
        bootstrap_means(gained[flags][:, None], RESAMPLES)[:, 0] if flags.any() else nothing for flags in (seen, ~seen)
    )
    low, high = interval(on_new)
    return NoveltyGain(
        name=row.scorer.name,
        seen=int(seen.sum()),
        seen_before=mean_or_nan(before[seen]),
        seen_after=mean_or_nan(after[seen]),
        new=int((~seen).sum()),
        new_before=mean_or_nan(before[~seen]),
        new_after=mean_or_nan(after[~seen]),
        new_low=float(low),
        new_high=float(high),
        apart_low=float(interval(on_seen - on_new).low),
    )
