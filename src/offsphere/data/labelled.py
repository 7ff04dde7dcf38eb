"""Items with a class each, as folders and arrays of pictures have them; those of one class belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Index
from offsphere.base.errors import DataError
from offsphere.data.items import Item, pick
from offsphere.data.judgments import Judgments
from offsphere.data.ranking_task import RankingTask

ASKING = 1_000  # items that ask, at most: each has a judgment for every other one of its class


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LabelledItems:
    """Items, the class of each, and the names of the classes.

    Attributes:
        name: What the data is called in tables.
        ids: A name for each item.
        items: What is encoded.
        labels: The number of each item's class.
        classes: The names of the classes.
        split: Which part of the data this is.
        notes: A sentence for everything that was left out or converted.

    Example:
        >>> import numpy as np
        >>> from offsphere.data.labelled import LabelledItems
        >>> items = LabelledItems(
        ...     "fruit", ["a", "b", "c"], ["fig", "figs", "pear"], np.array([0, 0, 1]), ["fig", "pear"]
        ... )
        >>> items.ranking_task()
        RankingTask(fruit: 2 queries, 3 documents)
    """

    name: str
    ids: Sequence[str]
    items: Sequence[Item]
    labels: Index
    classes: Sequence[str]
    split: str | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """The name and the counts, not the items."""
        return f"LabelledItems({self.name}: {len(self.items)} items, {len(self.classes)} classes)"

    def only(self, rows: Index) -> LabelledItems:
        """Some of the items, in the order of ``rows``, with all classes."""
        return LabelledItems(
            self.name,
            pick(self.ids, rows),
            pick(self.items, rows),
            self.labels[rows],
            self.classes,
            self.split,
            self.notes,
        )

    def ranking_task(self, asking: int = ASKING, seed: int = 0) -> RankingTask:
        """Let items ask for those of their class among all others; an item never finds itself.

        Args:
            asking: How many ask at most, drawn from all.
            seed: Which ones.

        Returns:
            The task. Items that are alone in their class cannot ask and are counted as left out.

        Raises:
            DataError: Every class has one item.
        """
        sizes = np.bincount(self.labels, minlength=len(self.classes))
        able = np.flatnonzero(sizes[self.labels] > 1)
        if not len(able):
            raise DataError(f"{self.name}: every class has one item: none has another of its class to be found")
        chosen = np.sort(np.random.default_rng(seed).permutation(able)[:asking])
        same = self.labels[chosen][:, None] == self.labels[None, :]
        same[np.arange(len(chosen)), chosen] = False
        queries, documents = np.nonzero(same)
        counts = (len(chosen), len(self.items))
        notes = self.notes
        if len(chosen) < len(able):
            notes = (*notes, f"{len(chosen):,} of {len(able):,} items ask, drawn at random")
        return RankingTask(
            name=self.name,
            query_ids=pick(self.ids, chosen),
            document_ids=self.ids,
            judgments=Judgments.of(queries, documents, np.ones(len(queries)), *counts),
            query_texts=pick(self.items, chosen),
            document_texts=self.items,
            split=self.split,
            listed_query_ids=self.ids,
            left_out=len(self.items) - len(able),
            made="items of one class are taken to be relevant to each other",
            excluded=Judgments.of(np.arange(len(chosen)), chosen, np.ones(len(chosen)), *counts),
            notes=notes,
            documents_apart=True,
        )
