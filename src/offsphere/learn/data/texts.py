"""Pairs of texts to learn from, gathered from a task; and parts of a task by its texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from offsphere.base.arrays import Index
from offsphere.base.errors import DataError
from offsphere.data.items import Item
from offsphere.data.task import Task, items_of
from offsphere.learn.data.apart import TEST_SHARE, rows_apart
from offsphere.learn.data.views import two_views
from offsphere.learn.encoders.encoder_recipe import EncoderRecipe


@dataclass(frozen=True, slots=True, eq=False)
class TextPairs:
    """Rows into two lists of texts, a number for every distinct text, and what is known to belong together."""

    queries: Sequence[str]
    documents: Sequence[str]
    pairs: Index  # (n, 2): row of the query, row of the document
    negatives: Index  # (n, h): rows of documents
    query_keys: Index
    document_keys: Index
    known: Index  # (m, 2): numbers of a query and a document that belong together, sorted
    judged_negatives: int = 0  # documents that people judged not to be relevant

    def __len__(self) -> int:
        return len(self.pairs)

    @classmethod
    def of(cls, task: Task, rows: Index) -> TextPairs:
        """The positives of some queries (or pairs) of a task."""
        left, right = items_of(task, ": an encoder is trained on texts")
        every = np.stack(task.positives(), axis=1)
        pairs = every[np.isin(every[:, 0], rows)]
        judged = int(np.isin(task.judged_negatives()[0], rows).sum())
        if not len(pairs):
            raise DataError(f"{task.name} has no pair to learn from: no query has a relevant document")
        query_keys, document_keys = _numbered(left), _numbered(right)
        known = np.unique(np.stack([query_keys[every[:, 0]], document_keys[every[:, 1]]], axis=1), axis=0)
        nothing = np.zeros((len(pairs), 0), np.int64)
        return cls(left, right, pairs, nothing, query_keys, document_keys, known, judged)

    @classmethod
    def views(cls, texts: Sequence[str], recipe: EncoderRecipe, seed: int) -> TextPairs:
        """Two views of every text, made anew for each epoch."""
        distinct = [text for text in dict.fromkeys(texts) if text.strip()]
        if not distinct:
            raise DataError("there is no text to learn from")
        rng = np.random.default_rng([seed, 7])
        left: list[str] = []
        right: list[str] = []
        for _ in range(recipe.epochs or 1):
            one, other = two_views(distinct, recipe.views, rng)
            left, right = left + one, right + other
        numbers = np.tile(np.arange(len(distinct)), recipe.epochs or 1)
        places = np.arange(len(left))
        known = np.stack([np.arange(len(distinct))] * 2, axis=1)
        nothing = np.zeros((len(left), 0), np.int64)
        return cls(left, right, np.stack([places, places], axis=1), nothing, numbers, numbers, known)

    def with_negatives(self, negatives: Index) -> TextPairs:
        """With a column of documents for each hard negative."""
        return replace(self, negatives=negatives)

    def dataset(self) -> Any:
        """For the trainer: anchor, positive, negative_1, ... and, as label, a number for every text of a row."""
        from datasets import Dataset

        columns: dict[str, Any] = {
            "anchor": [self.queries[row] for row in self.pairs[:, 0].tolist()],
            "positive": [self.documents[row] for row in self.pairs[:, 1].tolist()],
        }
        keys = [self.query_keys[self.pairs[:, 0]], self.document_keys[self.pairs[:, 1]]]
        for place, column in enumerate(self.negatives.T, 1):
            columns[f"negative_{place}"] = [self.documents[row] for row in column.tolist()]
            keys.append(self.document_keys[column])
        return Dataset.from_dict({**columns, "label": np.stack(keys, axis=1).tolist()})


def texts_of(task: Task) -> tuple[Sequence[Item], Sequence[Item]]:
    """The texts of both sides."""
    return items_of(task, ": an encoder is trained on texts")


def divided_texts(task: Task, seed: int, *, by_document: bool = False) -> tuple[Task, Task, str]:
    """What to learn from and what to judge by, where the data has one split only, and how to say so."""
    rows, aside = rows_apart(task, TEST_SHARE, seed, by_document=by_document)
    note = f"there is no other split to judge by: {TEST_SHARE:.0%} of the {task.unit} are kept from training for it"
    return task.only(rows), task.only(aside), note


def not_in(task: Task, rows: Index, others: Sequence[Task]) -> Index:
    """Those rows whose query (or pair of texts) stands in none of the other tasks."""
    seen = {unit for other in others for unit in other.unit_items()}
    own = task.unit_items()
    return np.array([row for row in rows.tolist() if own[row] not in seen], np.int64)


def _numbered(texts: Sequence[str]) -> Index:
    """A number for every text, the same for the same text."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int64)
