"""What is to be measured: vectors alone, or a task with its vectors and the model that counts its tokens."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from offsphere.base.errors import OffsphereError
from offsphere.base.progress import Progress
from offsphere.base.remote_path import given_path
from offsphere.data.embedded_table import EmbeddedTable
from offsphere.data.formats.picture_arrays import is_picture_arrays
from offsphere.data.load import load_task
from offsphere.data.task import Task, TaskVectors
from offsphere.data.vector_files import VectorFile, is_vectors, read_vectors
from offsphere.encode.embedded_task import EmbeddedSource
from offsphere.encode.encoder import Encoder


class MeasureInput(NamedTuple):
    """Vectors to measure, with the task and the encoder where there are any."""

    vectors: TaskVectors | VectorFile
    task: Task | None = None
    encoder: Encoder | None = None


def load_measure_input(
    source: EmbeddedSource, split: str | None = None, progress: Progress | None = None
) -> MeasureInput:
    """Read what ``measure`` takes: a file of vectors as it is, else a task.

    A table of texts with their vectors is a task where something asks: titles have vectors too, or a model is named.
    Where both a folder of vectors and models are named, the vectors are read, and the model of documents only counts
    tokens.
    """
    data = given_path(source.data)
    table = EmbeddedTable.of(data)
    asked = table is not None and (source.model is not None or table.columns.title_vectors is not None)
    if is_vectors(data) and not is_picture_arrays(data) and source.vectors is None and not asked:
        if source.model is not None:
            raise OffsphereError(
                f"{source.data} holds vectors and no texts: leave --model out, or give the task that has texts"
            )
        alone = read_vectors(data, verify=source.verify) if table is None else table.vectors("document")
        return MeasureInput(alone)
    reads = source if source.vectors is None else replace(source, model=None, query_model=None)
    task, vectors = reads.load(split, progress)
    return MeasureInput(vectors, task, source.encoder)


def load_texts(data: str, split: str | None = None, *, ignore_missing: bool = False) -> Task:
    """Read a task whose texts a model is to run over; vectors alone are refused."""
    if is_vectors(given_path(data)) and EmbeddedTable.of(given_path(data)) is None:
        raise OffsphereError(f"{data} holds vectors and no texts: give the task that has them")
    return load_task(data, split, ignore_missing=ignore_missing)
