"""The sides of what is measured: queries and documents, left and right, or vectors alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from offsphere.base.arrays import Counts, Vectors
from offsphere.base.errors import OffsphereError, VectorError
from offsphere.data.items import Item, kinds_of, texts_alone
from offsphere.data.store import Store
from offsphere.data.task import Task, TaskVectors
from offsphere.data.vector_files import VectorFile, read_vectors
from offsphere.encode.encoder import Encoder
from offsphere.geometry.text_numbers import TextNumbers, text_numbers
from offsphere.vectors.as_vectors import as_vectors
from offsphere.vectors.blocks import Blocks

Measurable = TaskVectors | Store | VectorFile | Vectors


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredSide:
    """Vectors of one side, with what is known of their rows."""

    name: str
    vectors: Vectors
    ids: Sequence[str] | None = None
    texts: Sequence[Item] | None = None
    tokens: Counts | None = None


def sides_of(vectors: Measurable, task: Task | None) -> list[MeasuredSide]:
    """Both sides of a task's vectors, checked against the task; vectors alone are one side."""
    if isinstance(vectors, TaskVectors):
        if task is not None:
            task.check(vectors)
        sides = task.sides if task is not None else vectors.unnamed_sides
        return [
            MeasuredSide(side.name, rows, side.ids, side.items, tokens)
            for side, rows, tokens in zip(sides, vectors.sides, vectors.tokens, strict=True)
        ]
    if task is not None:
        raise OffsphereError(
            f"give the vectors of {task.name} as offsphere.load_vectors or RankingVectors.of make them"
        )
    if isinstance(vectors, Store):
        vectors = read_vectors(vectors.folder, verify=False)  # who opened it has decided that
    if isinstance(vectors, VectorFile):
        return [MeasuredSide("vector", vectors.vectors, vectors.ids, None, vectors.tokens)]
    rows = as_vectors(vectors)
    if rows.ndim != 2:  # noqa: PLR2004
        raise VectorError(f"vectors have shape {rows.shape}: give a row a vector, (rows, dimensions)")
    Blocks.of(rows)  # says what is wrong with an empty array, or one that is not of floats
    return [MeasuredSide("vector", rows)]


def text_numbers_of(sides: Sequence[MeasuredSide], encoder: Encoder | None) -> list[TextNumbers] | None:
    """What is known of the texts of all sides; nothing where a side has none, or images."""
    if not all(side.texts is not None and kinds_of(side.texts) == ["text"] for side in sides):
        return None
    texts = [texts_alone(side.texts, side.name) for side in sides if side.texts is not None]
    numbers = text_numbers(texts, encoder.tokens if encoder is not None else None)
    return [_with_stored_counts(of_side, side.tokens) for of_side, side in zip(numbers, sides, strict=True)]


def _with_stored_counts(numbers: TextNumbers, counts: Counts | None) -> TextNumbers:
    """The model's own count of tokens, as the store kept it, where only words are known otherwise."""
    if counts is None or numbers.counted == "tokens":
        return numbers
    return replace(numbers, tokens=counts.astype(np.int64), counted="tokens")
