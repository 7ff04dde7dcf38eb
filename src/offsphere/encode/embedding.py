"""Embed a task: encode each side into a store, block by block, and go on where a killed run stopped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from offsphere.base.arrays import Counts, Index
from offsphere.base.cache_home import cache_home
from offsphere.base.digests import digest_of_texts
from offsphere.base.errors import DataError, ParameterError
from offsphere.base.progress import Progress
from offsphere.base.version import __version__
from offsphere.data.call_order import check_task_and_model
from offsphere.data.items import Item, ItemSide, digest_of_items, is_empty, size_of, text_of_item
from offsphere.data.store import DTYPES, Manifest, Store, is_store, open_store, read_manifest
from offsphere.data.store_writer import StoreWriter, locked
from offsphere.data.task import Task, TaskVectors
from offsphere.data.task_vectors import load_vectors
from offsphere.data.vector_parts import is_parts
from offsphere.encode.encoder import Encoder, check_kinds
from offsphere.encode.function_digest import UNKNOWN
from offsphere.encode.runtime import USUAL, Runtime
from offsphere.encode.sources import DEFAULT_MODEL, load_encoder

BLOCK = 1024  # items that are encoded and made safe together
STATIC_BLOCK = 16_384
LONGEST_NAME = 200  # bytes of a folder's name; systems allow 255


class SideItems(NamedTuple):
    """The items of one side of a task, and their ids."""

    side: ItemSide
    ids: Sequence[str]
    items: Sequence[Item]


def embed(
    task: Task,
    model: str | Encoder = DEFAULT_MODEL,
    out: str | Path | None = None,
    *,
    query_model: str | Encoder | None = None,
    keep_normalize: bool = False,
    runtime: Runtime = USUAL,
    dtype: str = "float32",
    block: int | None = None,
    verify: bool = True,
    progress: Progress | None = None,
) -> TaskVectors:
    """Encode both sides of a task into stores on disk, lengths kept; what is stored already is not encoded again.

    A killed run loses at most one block, and the next one goes on from there.

    Args:
        task: A task that has its texts.
        model: What ``load_encoder`` accepts, or an encoder.
        out: The folder of the stores; one named after task and model in the user's cache where it is not given.
        query_model: Another model for the side that asks. Its vectors may have another width: ``adapt`` learns the map
            that brings them together.
        keep_normalize: Leave the stages of the model in that throw lengths away.
        runtime: Who computes, in which numbers and in how many processes, where sentence-transformers runs the model.
        dtype: ``"float32"`` or ``"float16"``: how vectors are stored.
        block: How many items are encoded and made safe together.
        verify: Whether to compare what is stored with its digests before it is used.
        progress: Called with how many items are done, and how many there are.

    Returns:
        The vectors of the task, in its order, read from the stores.

    Raises:
        DataError: If the task has no texts, or the folder holds vectors of another model, or damaged ones.
        OffsphereError: If the model cannot be loaded or gives vectors that are not finite, if the disk is full, or if
            another process writes to the same folder.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> from offsphere.data import PairTask
        >>> from offsphere.encode.function import FunctionEncoder
        >>> left, right = ["banana", "fig", "pear"], ["bananas", "figure", "apple"]
        >>> task = PairTask("fruit", np.array([5.0, 1.0, 3.0]), left, right)
        >>> encoder = FunctionEncoder(lambda texts: [[len(text), text.count("a")] for text in texts], "letters")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     vectors = embed(task, encoder, folder)
        ...     vectors.right.tolist()
        [[7.0, 3.0], [6.0, 0.0], [5.0, 1.0]]
    """
    check_task_and_model("embed", task, model)
    run: dict[str, Any] = {"keep_normalize": keep_normalize, "runtime": runtime}
    encoder = load_encoder(model, **run) if isinstance(model, str) else model
    asking = load_encoder(query_model, **run) if isinstance(query_model, str) else query_model
    names = [each.description.model for each in (asking, encoder) if each is not None]
    folder = Path(out) if out is not None else default_folder(task.name, *names)
    stores = items_by_store(task)
    total, before = sum(len(side.items) for side in stores.values()), 0
    for name, side in stores.items():
        done, encodes = before, asking if asking is not None and name == task.sides[0].stored_as else encoder

        def show(rows: int, _: int, __: str = "", /, *, done: int = done) -> None:
            if progress is not None:
                progress(done + rows, total)

        embed_items(side, encodes, folder / name, dtype=dtype, block=block, progress=show)
        before += len(side.items)
    return load_vectors(folder, task, verify=verify)


def embed_items(
    side: SideItems,
    encoder: Encoder,
    folder: Path,
    *,
    dtype: str = "float32",
    block: int | None = None,
    wait: float = 0.0,
    progress: Progress | None = None,
) -> Store:
    """Encode the items of one side into a store; nothing is encoded where it holds them already."""
    if block is not None and (not isinstance(block, int) or block < 1):
        raise ParameterError(f"block = {block!r}: at least one item is made safe at a time")
    if is_parts(folder):
        raise DataError(
            f"{folder} holds parts of vectors: read them with --vectors {folder.parent}, or choose another --out"
        )
    _check_items(side)
    check_kinds(encoder, side.items)
    plan = _plan(side, encoder, dtype)
    with locked(folder, wait=wait):
        if is_store(folder):
            stored = read_manifest(folder)
            if stored == plan:
                return open_store(folder, verify=False)
            if (stored.model, stored.revision) != (plan.model, plan.revision):
                raise DataError(
                    f"{folder} holds vectors of {stored.model} ({stored.revision}), "
                    f"not {plan.model} ({plan.revision}): choose another --out, or delete it{_hint(plan)}"
                )
        size = block or (BLOCK if encoder.pads else STATIC_BLOCK)
        return _write_store(side, encoder, folder, plan, size, progress)


def side_items(task: Task) -> list[SideItems]:
    """The items of both sides of a task; the rows of pairs are named by their number."""
    rows = [str(row) for row in range(task.units)]
    sides = [SideItems(side.name, side.ids or rows, side.items) for side in task.sides if side.items is not None]
    if len(sides) < len(task.sides):
        raise DataError(f"{task.name} has no texts to embed{_elsewhere(task)}")
    return sides


def items_by_store(task: Task) -> dict[str, SideItems]:
    """What is encoded, by the name of its store: both sides, or one of whose vectors the other's are made."""
    asking, asked = task.sides
    made = asking.made_from_other is not None and (asking.items is None or task.symmetric)
    if not made:
        return dict(zip((asking.stored_as, asked.stored_as), side_items(task), strict=True))
    if asked.items is None or asked.ids is None:
        raise DataError(f"{task.name} has no texts to embed{_elsewhere(task)}")
    return {asked.stored_as: SideItems(asked.name, asked.ids, asked.items)}


def default_folder(task: str, *models: str) -> Path:
    """The folder in the user's cache where vectors of a task by its models are kept when nobody says where."""
    name = "--".join([task, *models])
    safe = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
    if len(safe.encode()) > LONGEST_NAME:
        safe = f"{safe.encode()[:LONGEST_NAME].decode(errors='ignore')}-{digest_of_texts([name])[:12]}"
    return cache_home() / safe


def _elsewhere(task: Task) -> str:
    """What a task without texts has instead."""
    if task.sides[0].made_from_other is not None:
        return ": it has links alone; make vectors of them with --model factorize(64), spectral(64) or propagate(2)"
    return "" if task.symmetric else ": it names its documents by id alone"


def _write_store(
    side: SideItems, encoder: Encoder, folder: Path, plan: Manifest, size: int, progress: Progress | None
) -> Store:
    """Encode what the store does not hold yet, block by block, and finish it."""
    order = _encoding_order(side.items, encoder)
    blocks = [order[start : start + size] for start in range(0, len(order), size)]
    writer = StoreWriter(folder, plan, len(blocks))
    with writer.told_what_is_safe():
        for number, rows in enumerate(blocks):
            if number >= writer.done:
                writer.write(rows, encoder.encode([side.items[row] for row in rows], side.side))
            if progress is not None:
                progress(min((number + 1) * size, len(order)), len(order))
        characters = np.fromiter((size_of(item) for item in side.items), np.int32, len(side.items))
        empty = np.fromiter((is_empty(item) for item in side.items), np.bool_, len(side.items))
        return writer.finish(side.ids, characters, _count_tokens(side.items, encoder), empty)


def _plan(side: SideItems, encoder: Encoder, dtype: str) -> Manifest:
    """The manifest that the finished store will have: by it a store is known again."""
    if dtype not in DTYPES:
        raise DataError(f"dtype {dtype!r}: vectors are kept as float32 or float16")
    description = encoder.description
    return Manifest(
        model=description.model,
        revision=description.revision,
        dimension=description.dimension,
        rows=len(side.items),
        dtype=dtype,
        side=side.side,
        prompt=encoder.prompt(side.side),
        similarity=description.similarity,
        normalization_removed=list(description.removed),
        normalization_kept=description.kept_normalize,
        texts=digest_of_items(side.items),
        ids=digest_of_texts(side.ids),
        empty=sum(is_empty(item) for item in side.items),
        version=__version__,
    )


def _encoding_order(items: Sequence[Item], encoder: Encoder) -> Index:
    """Row numbers, long items first where items are padded to one length, so that those of a batch are alike."""
    if not encoder.pads:
        return np.arange(len(items))
    return np.argsort([-size_of(item) for item in items], kind="stable")


def _count_tokens(items: Sequence[Item], encoder: Encoder) -> Counts:
    """How many tokens the encoder sees of each item, counted part by part."""
    counts = [encoder.count_tokens(items[start : start + STATIC_BLOCK]) for start in range(0, len(items), STATIC_BLOCK)]
    return np.concatenate(counts) if counts else np.zeros(0, np.int32)


def _hint(plan: Manifest) -> str:
    """What to do about a function that nobody can know again."""
    if plan.revision.split(" ")[0] != UNKNOWN:
        return ""
    return f"; to have {plan.model} known again, give the function a __version__"


def _check_items(side: SideItems) -> None:
    """Refuse a side without items, and name the first one that is no item, or whose id is none."""
    if not len(side.items):
        raise DataError(f"there are no {side.side} texts to embed")
    if len(side.ids) != len(side.items):
        raise DataError(f"there are {len(side.items)} {side.side} texts and {len(side.ids)} ids: they must be as many")
    for name, item in zip(side.ids, side.items, strict=True):
        if not isinstance(name, str):
            raise DataError(f"the {side.side} id {name!r} is of type {type(name).__name__}, expected a string")
        if not isinstance(item, Item):
            raise DataError(f"the text of {side.side} {name!r} is of type {type(item).__name__}, expected a string")
        if not (_is_whole(name) and _is_whole(text_of_item(item))):
            raise DataError(
                f"the id or text of {side.side} {name!r} has a lone surrogate, half a character: mend or remove it"
            )


def _is_whole(text: str) -> bool:
    """Whether a text can be written as UTF-8: Python's may hold halves of characters."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
