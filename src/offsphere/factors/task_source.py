"""A task together with its vectors, wherever they come from: files, a model, or the links of the task itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from offsphere.base.progress import Progress
from offsphere.data.named_data import named_data
from offsphere.data.task import EmbeddedTask, Task, TaskVectors
from offsphere.encode.embedded_task import EmbeddedSource
from offsphere.encode.runtime import USUAL, Runtime
from offsphere.factors.link_vectors import is_link_model, link_vectors
from offsphere.factors.node_features import find_features


@dataclass(frozen=True, eq=False)
class LinkSource(EmbeddedSource):
    """An ``EmbeddedSource`` whose vectors are made from the known links of the task, in seconds, and never stored.

    Example:
        >>> from offsphere.factors.task_source import task_source
        >>> type(task_source("ratings", "factorize(64)")).__name__, type(task_source("ratings")).__name__
        ('LinkSource', 'EmbeddedSource')
    """

    encoder = None  # nothing is encoded

    def __post_init__(self) -> None:
        """Refuse a way to run a model: links are factorised here."""
        self.runtime.check_fits(self.model or "")

    def vectors_of(self, task: Task, progress: Progress | None = None) -> TaskVectors:  # noqa: ARG002
        """Make the vectors of a task from its links, and from the features of its nodes where it has some."""
        return link_vectors(task, self.model or "", find_features(self._read_from))

    def folder_of(self, task: Task) -> Path:  # noqa: ARG002
        """The folder of the data: nothing is kept elsewhere."""
        return named_data(self.data).path

    def made_by(self, task: Task) -> dict[str, Any]:  # noqa: ARG002
        """What made the vectors."""
        return {"model": self.model}


def task_source(
    data: str,
    model: str | None = None,
    vectors: str | Path | None = None,
    *,
    ignore_missing: bool = False,
    verify: bool = True,
    query_model: str | None = None,
    ignore_broken: bool = False,
    reverse: bool = False,
    runtime: Runtime = USUAL,
) -> EmbeddedSource:
    """Tell where a task and its vectors come from, by what the model is called.

    Args:
        data: What ``load_task`` takes.
        model: What ``load_encoder`` takes, or what makes vectors of links: ``factorize(64)``, ``spectral(64)``,
            ``propagate(2)``.
        vectors: The folder of the vectors; for ``propagate``, of the features.
        ignore_missing: Whether to go on without judgments for unknown queries or documents.
        verify: Whether stores are compared with the digests they were written with.
        query_model: Another model for the side that asks.
        ignore_broken: Whether to go on without pictures that cannot be read.
        reverse: Whether what is searched asks.
        runtime: Who computes, in which numbers and in how many processes, where sentence-transformers runs the model.

    Returns:
        The source; nothing is read yet.

    Example:
        >>> import offsphere as osp
        >>> osp.task_source("ratings", "factorize(64)").model
        'factorize(64)'
    """
    kind = LinkSource if model is not None and is_link_model(model) else EmbeddedSource
    return kind(
        data,
        model,
        vectors,
        ignore_missing=ignore_missing,
        verify=verify,
        query_model=query_model,
        ignore_broken=ignore_broken,
        reverse=reverse,
        runtime=runtime,
    )


def load_embedded(
    data: str | Path,
    split: str | None = None,
    *,
    model: str | None = None,
    vectors: str | Path | None = None,
    ignore_missing: bool = False,
    progress: Progress | None = None,
) -> EmbeddedTask:
    """Read a task together with its vectors, embedding its texts where a model is named.

    Args:
        data: What ``load_task`` takes: a folder, a file, or a name on the hub.
        split: Which judgments: test, dev, train, ...
        model: What ``load_encoder`` takes, or what makes vectors of links: ``factorize(64)``, ``spectral(64)``,
            ``propagate(2)``. Without one, the vectors are read from files.
        vectors: The folder of the vectors. Without one: the user's cache where a model is named, else the data's own.
        ignore_missing: Whether to go on without judgments for unknown queries or documents.
        progress: Called now and then while texts are embedded.

    Returns:
        The task and its vectors, as ``compare``, ``audit`` and ``adapt`` take them.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for side in ("left", "right"):
        ...         np.save(f"{folder}/{side}.npy", np.eye(3, dtype=np.float32))
        ...     rows = ("score,sentence1,sentence2", "1,a,a", "3,b,b", "2,c,d")
        ...     with open(f"{folder}/pairs.csv", "w") as table:
        ...         print(*rows, sep=chr(10), file=table)
        ...     task, vectors = load_embedded(f"{folder}/pairs.csv")
        >>> task.units, vectors.dimension
        (3, 3)
    """
    return task_source(str(data), model, vectors, ignore_missing=ignore_missing).load(split, progress)
