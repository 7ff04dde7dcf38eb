"""Embed the other splits of data too, so that what learns from one finds its vectors beside those it is judged by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from offsphere.base.errors import DataError
from offsphere.base.progress import Progress
from offsphere.data.load import load_task, splits_of
from offsphere.data.task import Task, TaskSide
from offsphere.encode.embedding import embed_items, items_by_store
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
    query_encoder: Encoder | None = None,
    dtype: str = "float32",
    ignore_missing: bool = False,
    ignore_broken: bool = False,
    reverse: bool = False,
    progress: Progress | None = None,
) -> Iterator[SplitOutcome]:
    """Encode what the other splits ask, each into a store of its own (``queries-train``), beside a task's vectors.

    Args:
        data: what the task was read from.
        task: the split that is embedded already.
        encoder: what made its vectors.
        folder: where its vectors are.
        query_encoder: what made the vectors of the side that asks, where that was another model.
        dtype: how vectors are stored.
        ignore_missing: go on without judgments for unknown queries or documents.
        ignore_broken: go on without pictures that cannot be read.
        reverse: whether what is searched asks.
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
            other = load_task(data, split, ignore_missing=ignore_missing, ignore_broken=ignore_broken, reverse=reverse)
            if _is_another(other.sides[-1], searched):
                yield SplitOutcome(split, f"it has other documents than {task.split}: give it an --out of its own")
                continue
            for name, items in items_by_store(other).items():
                if name not in stored:
                    encodes = (
                        query_encoder if query_encoder is not None and name == other.sides[0].stored_as else encoder
                    )
                    embed_items(items, encodes, folder / name, dtype=dtype, progress=progress)
                    yield SplitOutcome(name)
        except DataError as error:
            yield SplitOutcome(split, str(error))


def _is_another(side: TaskSide, stored: TaskSide) -> bool:
    """Tell whether a side would go into the store of another one though it has other items."""
    if side.stored_as != stored.stored_as:
        return False
    return (list(side.ids or ()), list(side.items or ())) != (list(stored.ids or ()), list(stored.items or ()))
