"""Training pairs as a data set of sentence-transformers' own trainer: texts as they are, images by their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from offsphere.base.arrays import Index
from offsphere.base.errors import DataError
from offsphere.data.items import Item, kinds_of
from offsphere.learning.data.training_pairs import ItemPairs


def training_dataset(pairs: ItemPairs) -> Any:
    """Columns anchor, positive, negative_1, ... and, as label, a number for every item of a row."""
    from datasets import Dataset

    (items,) = pairs.sources
    columns: dict[str, Any] = {
        "anchor": _column(items.queries, pairs.queries),
        "positive": _column(items.documents, pairs.documents),
    }
    keys = [items.query_keys[pairs.queries], items.document_keys[pairs.documents]]
    for number, rows in enumerate(pairs.negatives.T, 1):
        columns[f"negative_{number}"] = _column(items.documents, rows)
        keys.append(items.document_keys[rows])
    return Dataset.from_dict({**columns, "label": np.stack(keys, axis=1).tolist()})


def _column(items: Sequence[Item], rows: Index) -> list[Any]:
    """Texts themselves; rows in the place of images, which ``ItemReader`` reads."""
    if "image" not in kinds_of(items):
        return [items[row] for row in rows.tolist()]
    if "text" in kinds_of(items):
        raise DataError("one side has texts and images: an encoder learns from sides of one kind each")
    return list(rows.tolist())
