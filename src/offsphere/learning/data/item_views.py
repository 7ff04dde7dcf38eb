"""Two views of one item, for learning without judgments: of texts made beforehand, of images batch by batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from offsphere.base.errors import DataError
from offsphere.data.image import Image
from offsphere.data.items import Item, kinds_of, texts_alone
from offsphere.learning.data.task_sources import NumberedSides
from offsphere.learning.data.text_views import view_pairs
from offsphere.learning.data.training_pairs import ItemPairs


def item_view_pairs(items: Sequence[Item], kind: str, epochs: int, seed: int) -> ItemPairs:
    """Two views of every item, paired, other ones in each epoch.

    Args:
        items: Texts, or images.
        kind: What the views are: same, augmented or crops.
        epochs: How often every item comes.
        seed: Of views of texts; those of images are made when they are read.

    Returns:
        The pairs.

    Raises:
        DataError: There are no items, or some of either kind.
    """
    if kinds_of(items) != ["image"]:
        return view_pairs(texts_alone(items, "learning from two views of texts"), kind, epochs, seed)
    distinct = list(dict.fromkeys(item for item in items if isinstance(item, Image)))
    if not distinct:
        raise DataError("there is no image to learn from")
    rows = np.tile(np.arange(len(distinct)), epochs)
    numbers = np.arange(len(distinct))
    return ItemPairs(
        sources=[NumberedSides(distinct, distinct, numbers, numbers)],
        source=np.zeros(len(rows), np.int64),
        queries=rows,
        documents=rows,
        negatives=np.zeros((len(rows), 0), np.int64),
        known=np.stack([numbers, numbers], axis=1),
        distinct=len(distinct),
    )
