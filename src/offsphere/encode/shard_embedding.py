"""Embed one shard of a task's documents: a part of the corpus, which is read with the others without being joined."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from offsphere.base.errors import DataError, ParameterError
from offsphere.base.progress import Progress
from offsphere.data.numbered_parts import part_name
from offsphere.data.store import Store, is_store
from offsphere.data.task import Task
from offsphere.encode.embedding import SideItems, embed_items, items_by_store
from offsphere.encode.encoder import Encoder


def embed_shard(
    task: Task,
    encoder: Encoder,
    folder: Path,
    number: int,
    count: int,
    *,
    query_encoder: Encoder | None = None,
    dtype: str = "float32",
    progress: Progress | None = None,
) -> list[Store]:
    """Encode one of so many shards of what is asked for; the first shard also has what asks.

    Args:
        task: The whole task.
        encoder: Of the documents, and of the queries unless they have their own.
        folder: Of the vectors: the shard becomes ``documents/00002-of-00007`` in it.
        number: Of the shard, from 1.
        count: How many shards there are.
        query_encoder: Of the queries.
        dtype: ``"float32"`` or ``"float16"``.
        progress: Is told how many items are done.

    Returns:
        The stores that were made, or were there already.

    Raises:
        ParameterError: There are more shards than documents.
        DataError: The folder holds the vectors of all documents already.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import offsphere as osp
        >>> from offsphere.data.items import ItemList
        >>> from offsphere.data.judgments import Judgment
        >>> from offsphere.encode.function import FunctionEncoder
        >>> from offsphere.encode.shard_embedding import embed_shard
        >>> documents = ItemList(["d1", "d2", "d3"], ["a", "bb", "ccc"])
        >>> task = osp.RankingTask.build("small", ItemList(["q"], ["dddd"]), documents, [Judgment("q", "d1", 1.0)])
        >>> encoder = FunctionEncoder(lambda texts: [[len(text), 1.0] for text in texts], "letters")
        >>> folder = Path(tempfile.mkdtemp())
        >>> for number in (1, 2):
        ...     _ = embed_shard(task, encoder, folder, number, 2)
        >>> osp.load_vectors(folder, task).documents.tolist()
        [[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]]
    """
    home = folder / task.sides[-1].stored_as
    if is_store(home):
        raise DataError(f"{home} holds the vectors of all documents already: choose another --out for its shards")
    parts = items_of_shard(task, number, count)
    return embed_parts(parts, encoder, folder, query_encoder=query_encoder, dtype=dtype, progress=progress)


def embed_parts(
    parts: Mapping[str, SideItems],
    encoder: Encoder,
    folder: Path,
    *,
    query_encoder: Encoder | None = None,
    dtype: str = "float32",
    wait: float = 0.0,
    progress: Progress | None = None,
) -> list[Store]:
    """Encode what one shard has, without the rest of the task.

    Args:
        parts: Its items, by the names of their stores.
        encoder: Of the documents, and of the queries unless they have their own.
        folder: Of the vectors.
        query_encoder: Of the queries.
        dtype: ``"float32"`` or ``"float16"``.
        wait: Seconds that another process which writes the same shard is given to end.
        progress: Is told how many documents are done.

    Returns:
        The stores that were made, or were there already.
    """
    made = []
    for name, part in parts.items():
        asks = part.side in ("query", "left")
        encodes = query_encoder if asks and query_encoder is not None else encoder
        told = None if asks else progress
        made.append(embed_items(part, encodes, folder / name, dtype=dtype, wait=wait, progress=told))
    return made


def items_of_shard(task: Task, number: int, count: int) -> dict[str, SideItems]:
    """What one of so many shards encodes, by the names of its stores.

    Args:
        task: The whole task.
        number: Of the shard, from 1.
        count: How many shards there are.

    Returns:
        Its part of what is asked for, and in the first shard also what asks, where that is stored apart.

    Raises:
        ParameterError: There are more shards than documents.
    """
    asking, asked = task.sides
    stores = items_by_store(task)
    whole = stores.pop(asked.stored_as)
    rows = len(whole.items)
    if count > rows:
        raise ParameterError(f"{count} shards of {rows} documents: make at most {rows}")
    start, stop = ((edge * rows) // count for edge in (number - 1, number))
    part = SideItems(whole.side, whole.ids[start:stop], whole.items[start:stop])
    own = {f"{asked.stored_as}/{part_name(number, count)}": part}
    if number == 1 and asking.stored_as in stores:
        own[asking.stored_as] = stores[asking.stored_as]
    return own
