"""What to learn from and what to judge by: two splits of one data set, or other data by its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from offsphere.base.errors import DataError, NoSuchSplitError
from offsphere.base.progress import Progress
from offsphere.data.load import load_task
from offsphere.data.task import EmbeddedTask, Task
from offsphere.encode.embedded_task import EmbeddedSource
from offsphere.learning.data.task_sources import TextSource
from offsphere.learning.data.training_data import Division, divide

TRAIN = "train"  # the split that is learned from unless another is named


class EmbeddedParts(NamedTuple):
    """What to learn from and what to judge by, with vectors; no ``test`` where the data has one split only."""

    train: EmbeddedTask
    test: EmbeddedTask | None


class TextParts(NamedTuple):
    """What to learn from and what to judge by, without vectors; no ``test`` where the data has one split only."""

    train: Task
    test: Task | None


def load_parts(
    source: EmbeddedSource,
    *,
    split: str | None = None,
    train_split: str | None = None,
    judged: EmbeddedTask | None = None,
    progress: Progress | None = None,
) -> EmbeddedParts:
    """Load what an adapter learns from and what it is judged by, as ``learn`` and ``ablate`` take them.

    Args:
        source: The data, and where its vectors come from.
        split: The split to judge by; the data's own choice unless said, which is test.
        train_split: The split to learn from; train unless said, where there is one.
        judged: The split to judge by, where it is loaded already.
        progress: Called now and then while texts are embedded.

    Returns:
        Both parts; ``test`` is nothing where the data has one split only, which is then divided.

    Raises:
        DataError: Where both splits are one, or a split that was named is not there.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Path(folder, "qrels").mkdir()
        ...     for split, name in {"train": "queries-train", "test": "queries"}.items():
        ...         np.savez(Path(folder, f"{name}.npz"), vectors=np.eye(2, dtype=np.float32), ids=["q0", "q1"])
        ...         _ = Path(folder, "qrels", f"{split}.tsv").write_text("q0 d0 1".replace(" ", chr(9)))
        ...     np.savez(Path(folder, "documents.npz"), vectors=np.eye(2, dtype=np.float32), ids=["d0", "d1"])
        ...     parts = load_parts(EmbeddedSource(folder))
        >>> parts.train[0].split, parts.test[0].split
        ('train', 'test')
    """
    _check_apart(source.data, split, train_split)
    test = judged[0] if judged is not None else source.task(split)
    train = _train_beside(test, train_split, source.task)
    if train is None:
        return EmbeddedParts(judged or (test, source.vectors_of(test, progress)), None)
    learned = train, source.vectors_of(train, progress)
    return EmbeddedParts(learned, judged or (test, source.vectors_of(test, progress)))


def load_text_parts(
    data: str,
    *,
    split: str | None = None,
    train_split: str | None = None,
    ignore_missing: bool = False,
    ignore_broken: bool = False,
    reverse: bool = False,
) -> TextParts:
    """Load what an encoder learns from and is judged by, without vectors, as ``train`` and ``ablate_encoder`` take it.

    With ``reverse`` what is searched asks: images for their captions.
    """

    def load(name: str | None) -> Task:
        return load_task(data, name, ignore_missing=ignore_missing, ignore_broken=ignore_broken, reverse=reverse)

    _check_apart(data, split, train_split)
    test = load(split)
    train = _train_beside(test, train_split, load)
    return TextParts(test, None) if train is None else TextParts(train, test)


def judged_apart(task: Task, test: Task | None, seed: int = 0, *, new_documents: bool = False) -> Division[TextSource]:
    """What a model learns from and what it is judged by: a share is kept from training where there is nothing else.

    Args:
        task: A task with texts, to learn from.
        test: What to judge by, where there is such a task.
        seed: Of what is kept.
        new_documents: Whether what is kept shares no relevant document with what is learned from.

    Returns:
        Both parts, and a note that says so where a share was kept.

    Raises:
        DataError: There is too little to be divided.
    """
    if test is not None:
        return Division(TextSource(task), TextSource(test), "")
    return divide(TextSource(task), seed, by_document=new_documents)


def load_named_task(
    text: str, *, ignore_missing: bool = False, ignore_broken: bool = False, reverse: bool = False
) -> Task:
    """Load data by its name, with a split after a colon where there is one: ``DATA`` or ``DATA:SPLIT``."""
    data, colon, split = text.rpartition(":")
    named, part = (data, split) if colon and not Path(text).exists() else (text, None)
    return load_task(named, part, ignore_missing=ignore_missing, ignore_broken=ignore_broken, reverse=reverse)


def _check_apart(data: str, split: str | None, train_split: str | None) -> None:
    """Refuse to learn from the split that is judged by."""
    if split == (train_split or TRAIN):
        raise DataError(f"{data}: one cannot learn from {split!r} and judge by it: choose another --split")


def _train_beside(test: Task, train_split: str | None, load: Callable[[str], Task]) -> Task | None:
    """The part to learn from beside the one to judge by; nothing where the one split there is has to be divided."""
    if test.split == (train_split or TRAIN):
        return None
    try:
        return load(train_split or TRAIN)
    except NoSuchSplitError:
        if train_split is not None:
            raise
        return None
