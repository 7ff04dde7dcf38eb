"""Embed the other splits of data too, so that what learns from one finds its vectors beside those it is judged by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from offsphere.base.errors import DataError
from offsphere.base.progress import Progress
from offsphere.data.load import load_task, splits_of
from offsphere.data.task import Task
from offsphere.encode.embedding import embed_items, side_items
from offsphere.encode.encoder import Encoder

if TYPE_CHECKING:
    from pathlib import Path


class SplitOutcome(NamedTuple):
    """What became of one side of another split: the name of its store, or why the split was left out."""

    name: str
    left_out: str = ""


def embed_other_splits(
    data: str,
    task: Task,
    encoder: Encoder,
    folder: Path,
    *,
    dtype: str = "float32",
    ignore_missing: bool = False,
    progress: Progress | None = None,
) -> Iterator[SplitOutcome]:
    """Encode what the other splits ask, each into a store of its own (``queries-train``), beside a task's vectors.

    Args:
        data: what the task was read from.
        task: the split that is embedded already.
        encoder: what made its vectors.
        folder: where its vectors are.
        dtype: how vectors are stored.
        ignore_missing: go on without judgments for unknown queries or documents.
        progress: called with how many items of a store are done, and how many there are.

    Yields:
        An outcome for each store; a split that cannot be read, or that has documents of its own, is left out.
    """
    stored = {side.stored_as for side in task.sides}
    searched = task.sides[-1]
    for split in splits_of(data):
        if split == task.split:
            continue
        try:
            other = load_task(data, split, ignore_missing=ignore_missing)
            if other.sides[-1].stored_as == searched.stored_as and other.sides[-1].ids != searched.ids:
                yield SplitOutcome(split, f"it has other documents than {task.split}: give it an --out of its own")
                continue
            for side, items in zip(other.sides, side_items(other), strict=True):
                if side.stored_as not in stored:
                    embed_items(items, encoder, folder / side.stored_as, dtype=dtype, progress=progress)
                    yield SplitOutcome(side.stored_as)
        except DataError as error:
            yield SplitOutcome(split, str(error))
