"""What commands share before they start: a task with its vectors, embedded where a model is named; where to write."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from offsphere.base.errors import DataError, NoSuchSplitError, OffsphereError
from offsphere.cli.progress import progress_bar

if TYPE_CHECKING:
    from offsphere.data.task import Task, TaskVectors


def load_all(
    data: str, model: str | None, vectors: Path | None, split: str | None, *, ignore_missing: bool
) -> tuple[Task, TaskVectors, dict[str, Any]]:
    """Task, vectors, and what is known of the model that made them."""
    task = load_only(data, model, vectors, split, ignore_missing=ignore_missing)
    held, known = vectors_of(task, data, model, vectors)
    return task, held, known


def load_only(data: str, model: str | None, vectors: Path | None, split: str | None, *, ignore_missing: bool) -> Task:
    """The task alone; where no model is named, the vectors may name its documents."""
    from offsphere.data import load_task

    place = None if model else _place(data, vectors)
    return load_task(data, split, ignore_missing=ignore_missing, vectors=place)


def vectors_of(task: Task, data: str, model: str | None, vectors: Path | None) -> tuple[TaskVectors, dict[str, Any]]:
    """The vectors of a task, embedded where a model is named, and what is known of what made them."""
    from offsphere.data import load_vectors
    from offsphere.data.store import is_store, read_manifest
    from offsphere.encode.embedding import default_folder, embed
    from offsphere.encode.sources import load_encoder

    place = _place(data, vectors)
    if model is not None:
        encoder = load_encoder(model)
        place = vectors or default_folder(task.name, model)
        with progress_bar("embedding") as progress:
            held = embed(task, encoder, place, progress=progress)
    else:
        held = load_vectors(place, task)
    store = place / [side.stored_as for side in task.sides][-1]
    if not is_store(store):
        return held, {}
    made = read_manifest(store)
    removed = ", ".join(made.normalization_removed)
    known = {"model": made.model, "revision": made.revision, "similarity": made.similarity}
    return held, known | {"taken out so that lengths are kept": removed}


def _place(data: str, vectors: Path | None) -> Path:
    return vectors or (Path(data).parent if Path(data).is_file() else Path(data))


def two_splits(
    data: str, splits: tuple[str | None, str | None], load: Callable[[str | None], Task]
) -> tuple[Task, Task | None]:
    """What to learn from, and what to judge by; nothing where the data has one split only.

    ``splits`` name both, where somebody has named them; ``load`` gives the task of a split.
    """
    wanted, judged_by = splits
    learned_from = wanted or "train"
    if judged_by == learned_from:
        raise DataError(f"{data}: one cannot learn from {judged_by!r} and judge by it: choose another --split")
    judged = load(judged_by)
    if judged.split == learned_from:
        return judged, None
    try:
        return load(learned_from), judged
    except NoSuchSplitError:
        if wanted is not None:  # else the one split there is will be divided
            raise
    return judged, None


def check_writable(target: Path) -> None:
    """Refuse a place one cannot write to."""
    folder = target.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".offsphere-"):
            pass
    except OSError as error:
        raise OffsphereError(f"cannot write {target}: {error.strerror}: choose another place") from error
    if target.is_dir():
        raise OffsphereError(f"{target} is a folder: give the name of a file with --out")
