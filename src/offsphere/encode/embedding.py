"""Embed a task: encode each side into a store, block by block, and go on where a killed run stopped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Counts, Index
from offsphere.base.cache import cache_home
from offsphere.base.digests import digest_of_texts
from offsphere.base.errors import DataError
from offsphere.base.progress import Progress
from offsphere.base.version import __version__
from offsphere.data.store import Manifest, Store, StoreWriter, is_store, locked, open_store, read_manifest
from offsphere.data.task import Task, TaskVectors, items_of
from offsphere.data.task_vectors import load_vectors
from offsphere.encode.encoder import Encoder, ItemSide
from offsphere.encode.sources import DEFAULT_MODEL, load_encoder

BLOCK = 1024  # texts that are encoded and made safe together
STATIC_BLOCK = 16_384


class Texts(NamedTuple):
    """The texts of one side and their ids."""

    side: ItemSide
    ids: Sequence[str]
    texts: Sequence[str]


def embed(
    task: Task,
    model: str | Encoder = DEFAULT_MODEL,
    out: str | Path | None = None,
    *,
    keep_normalize: bool = False,
    dtype: str = "float32",
    block: int | None = None,
    progress: Progress | None = None,
) -> TaskVectors:
    """The vectors of a task, lengths kept, from the store in ``out`` where they are there already.

    ``out`` is a folder named after task and model in the user's cache unless said otherwise. ``block`` texts are
    encoded and made safe together: what a kill can lose.
    """
    encoder = load_encoder(model, keep_normalize=keep_normalize) if isinstance(model, str) else model
    folder = Path(out) if out is not None else default_folder(task.name, encoder.description.model)
    sides = texts_of(task)
    total, before = sum(len(side.texts) for side in sides), 0
    for name, side in zip([side.stored_as for side in task.sides], sides, strict=True):
        done = before

        def show(rows: int, _: int, said: str = "", /, *, done: int = done) -> None:
            if progress is not None:
                progress(done + rows, total, said)

        embed_texts(side, encoder, folder / name, dtype=dtype, block=block, progress=show)
        before += len(side.texts)
    return load_vectors(folder, task)


def embed_texts(
    side: Texts,
    encoder: Encoder,
    folder: Path,
    *,
    dtype: str = "float32",
    block: int | None = None,
    progress: Progress | None = None,
) -> Store:
    """Encode texts into a store; nothing is encoded where it holds them already."""
    _check_texts(side)
    plan = _plan(side, encoder, dtype)
    with locked(folder):
        if is_store(folder):
            found = read_manifest(folder)
            if found == plan:
                return open_store(folder)
            if (found.model, found.revision) != (plan.model, plan.revision):
                raise DataError(
                    f"{folder} holds vectors of {found.model} ({found.revision}), not {plan.model} ({plan.revision}): "
                    "choose another --out, or delete it"
                )
        size = block or (BLOCK if encoder.pads else STATIC_BLOCK)
        return _written(side, encoder, folder, plan, size, progress)


def _written(
    side: Texts, encoder: Encoder, folder: Path, plan: Manifest, size: int, progress: Progress | None
) -> Store:
    order = _order(side.texts, encoder)
    blocks = [order[start : start + size] for start in range(0, len(order), size)]
    writer = StoreWriter(folder, plan, len(blocks))
    for number, rows in enumerate(blocks):
        if number >= writer.done:
            writer.write(rows, encoder.encode([side.texts[row] for row in rows], side.side))
        if progress is not None:
            progress(min((number + 1) * size, len(order)), len(order))
    characters = [len(text) for text in side.texts]
    empty = [not text.strip() for text in side.texts]
    return writer.finish(side.ids, characters, _tokens(side.texts, encoder), empty)


def texts_of(task: Task) -> list[Texts]:
    """The two sides of a task; the rows of pairs are named by their number."""
    items_of(task, ": there is nothing to embed")
    rows = [str(row) for row in range(task.units)]
    return [Texts(side.name, side.ids or rows, side.items or ()) for side in task.sides]


def default_folder(task: str, model: str) -> Path:
    """Where vectors are kept when nobody says where."""
    safe = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in f"{task}--{model}")
    return cache_home() / safe


def _plan(side: Texts, encoder: Encoder, dtype: str) -> Manifest:
    if dtype not in ("float32", "float16"):
        raise DataError(f"dtype {dtype!r}: vectors are kept as float32 or float16")
    made_by = encoder.description
    return Manifest(
        model=made_by.model,
        revision=made_by.revision,
        dimension=made_by.dimension,
        rows=len(side.texts),
        dtype=dtype,
        side=side.side,
        prompt=encoder.prompt(side.side),
        similarity=made_by.similarity,
        normalization_removed=list(made_by.removed),
        normalization_kept=made_by.kept_normalize,
        texts=digest_of_texts(side.texts),
        ids=digest_of_texts(side.ids),
        empty=sum(not text.strip() for text in side.texts),
        version=__version__,
    )


def _order(texts: Sequence[str], encoder: Encoder) -> Index:
    """Long texts first where texts are padded to one length, so that those of a batch are alike."""
    if not encoder.pads:
        return np.arange(len(texts))
    return np.argsort([-len(text) for text in texts], kind="stable")


def _tokens(texts: Sequence[str], encoder: Encoder) -> Counts:
    parts = [encoder.count_tokens(texts[start : start + STATIC_BLOCK]) for start in range(0, len(texts), STATIC_BLOCK)]
    return np.concatenate(parts) if parts else np.zeros(0, np.int32)


def _check_texts(side: Texts) -> None:
    if not len(side.texts):
        raise DataError(f"there are no {side.side} texts to embed")
    for name, text in zip(side.ids, side.texts, strict=True):
        if not isinstance(text, str):
            raise DataError(f"the text of {side.side} {name!r} is of type {type(text).__name__}, expected a string")
