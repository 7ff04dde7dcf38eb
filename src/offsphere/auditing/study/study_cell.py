"""A cell of a study: one task under one model, where its vectors are, and how it is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, fields
from pathlib import Path
from typing import Any

from offsphere.base.digests import digest_of
from offsphere.base.errors import ParameterError
from offsphere.base.known_names import known_name, plain_name
from offsphere.base.reading.file_access import read_bounded
from offsphere.base.reading.toml_files import read_settings
from offsphere.base.version import code_version
from offsphere.data.formats.mteb_tasks import SUITE, suite_tasks
from offsphere.data.named_data import data_and_folder
from offsphere.data.store import is_store
from offsphere.data.task import Task, TaskVectors
from offsphere.encode.embedded_task import EmbeddedSource
from offsphere.encode.runtime import USUAL, Runtime
from offsphere.factors.task_source import task_source
from offsphere.vectors.blocks import Blocks

OF_THE_STUDY = ("model", "task")  # the tables of a study's file


@dataclass(frozen=True, slots=True)
class StudyCell:
    """One task under one model.

    Args:
        data: What ``load_task`` takes.
        model: What embeds it; nothing where the vectors are there.
        vectors: The folder of the vectors; the user's cache where a model is named, else the data's own.
        name: What the task is called in the table; its own name unless said.
        split: Which judgments.
        metric: What decides; the task's usual one unless said.
        symmetric: Whether the two sides could be exchanged; what the task says unless said.
        adapt: Whether adapters are trained on the train split, too.
        ignore_missing: Whether to go on without judgments for unknown queries or documents.
        runtime: How the model is run, where sentence-transformers does that.
    """

    data: str
    model: str | None = None
    vectors: str | None = None
    _: KW_ONLY
    name: str | None = None
    split: str | None = None
    metric: str | None = None
    symmetric: bool | None = None
    adapt: bool = False
    ignore_missing: bool = False
    runtime: Runtime = USUAL

    @property
    def source(self) -> EmbeddedSource:
        """Where the task and its vectors come from."""
        return task_source(
            self.data, self.model, self.vectors, ignore_missing=self.ignore_missing, runtime=self.runtime
        )

    @property
    def model_name(self) -> str | None:
        """What the model is called as it is run; nothing where the vectors are there."""
        return self.runtime.named(self.model) if self.model is not None else None

    @property
    def label(self) -> str:
        """The cell in a few words, before anything is read."""
        return f"{self.name or Path(self.data).name} x {self.model_name or self.vectors or 'its vectors'}"

    def question(self, task: Task, seed: int, vectors: TaskVectors | None = None) -> str | None:
        """A digest of everything the answer depends on; nothing where the vectors must be known to tell.

        Vectors in a store are known by its manifest, which holds digests of them, so that nothing is read twice.
        """
        folder = self.source.folder_of(task)
        stores = [folder / side.stored_as for side in task.sides]
        if all(is_store(store) for store in stores):
            known = [read_bounded(store / "manifest.json") for store in stores]
        elif vectors is not None:
            known = [digest_of(block.tobytes() for block in Blocks.of(side)).encode() for side in vectors.sides]
        else:
            return None
        asked = {**asdict(self), "data": None, "vectors": None, "runtime": None, "model": self.model_name, "seed": seed}
        return digest_of([code_version(), task.digest().encode(), *known, repr(sorted(asked.items())).encode()])


def cells_of(
    tasks: Sequence[str],
    models: Sequence[str],
    *,
    adapt: bool = False,
    ignore_missing: bool = False,
    runtime: Runtime = USUAL,
) -> list[StudyCell]:
    """Every task under every model; ``DATA=DIR`` is a task whose vectors are in a folder, whatever made them.

    Args:
        tasks: What somebody types.
        models: Names of models.
        adapt: Whether adapters are trained, too.
        ignore_missing: Whether to go on without judgments for unknown queries or documents.
        runtime: How the models are run, where sentence-transformers does that.

    Returns:
        The cells, task by task.

    Raises:
        ParameterError: No task, or a task with neither a model nor vectors.

    Example:
        >>> [cell.label for cell in cells_of(["cisi", "stsb=vectors/stsb"], ["wordllama"])]
        ['cisi x wordllama', 'stsb x vectors/stsb']
    """
    cells = []
    for typed in [name for task in tasks for name in (suite_tasks(task) if task.startswith(SUITE) else [task])]:
        data, folder = data_and_folder(typed)
        if folder is not None:
            cells.append(StudyCell(data, None, folder, adapt=adapt, ignore_missing=ignore_missing))
        elif not models:
            raise ParameterError(f"{typed}: name a model with --model, or its vectors as {typed}=DIR")
        else:
            cells += [
                StudyCell(data, model, adapt=adapt, ignore_missing=ignore_missing, runtime=runtime) for model in models
            ]
    return _some(cells)


def read_cells(path: Path) -> list[StudyCell]:
    """Read the cells of a study from a TOML file: ``[[task]]`` tables, and a list ``model`` for all of them.

    Paths in it are relative to the file. A task may have a ``model`` of its own instead of that list. ``vectors`` of a
    task may be a folder, or a table of models and folders, which are models beside those.

    Args:
        path: The file.

    Returns:
        The cells, task by task.

    Raises:
        ParameterError: A table or a key that a study does not know, or a task without data.
    """
    content = read_settings(path)
    content = _with_known_names(content, f"{path}: table", OF_THE_STUDY) if isinstance(content, dict) else {}
    if not isinstance(content.get("task"), list):
        raise ParameterError(f"{path}: a study lists its tasks as [[task]] tables, each with data = ...")
    models = _names_of_models(content.get("model", []), str(path))
    cells = []
    for number, table in enumerate(content["task"], start=1):
        cells += _cells_of_table(table, models, path, f"{path}: task {number}")
    return _some(cells)


def _with_known_names(table: Mapping[Any, Any], kind: str, known: Sequence[str]) -> dict[str, Any]:
    """A table of the file by the names of its keys as they are known, whatever their case."""
    named = {known_name(kind, str(name), known): value for name, value in table.items()}
    if len(named) < len(table):
        raise ParameterError(f"{kind}: two of {', '.join(map(str, table))} are the same name: keep one")
    return named


def _cells_of_table(table: Any, models: Sequence[str], path: Path, where: str) -> list[StudyCell]:
    names = [field.name for field in fields(StudyCell) if field.name != "runtime"]
    has_data = isinstance(table, dict) and "data" in map(plain_name, map(str, table))
    table = _with_known_names(table, f"{where}: key", names) if has_data else {}
    _check_values(table, where)
    here = {**table, "data": _beside(path, table["data"])}
    own, folders = here.pop("model", None), here.pop("vectors", None)
    if own is not None:
        models = _names_of_models(own, where)
        if isinstance(folders, str):
            raise ParameterError(f"{where}: vectors = {folders!r} are of no model, and model = {own!r}: give one")
    if isinstance(folders, str):
        return [StudyCell(vectors=str(path.parent / folders), **here)]
    asked = list(dict.fromkeys([*(folders or {}), *models]))
    if not asked:
        raise ParameterError(f"{where}: name models with model = [...], or give vectors")
    placed = {model: str(path.parent / folder) for model, folder in (folders or {}).items()}
    return [StudyCell(model=model, vectors=placed.get(model), **here) for model in asked]


def _check_values(table: Mapping[str, Any], where: str) -> None:
    """Every value of a task's table is of the kind that its key asks for."""
    if not isinstance(table.get("data"), str):
        raise ParameterError(f"{where}: it needs data = a folder, a file or a name")
    for name in ("symmetric", "adapt", "ignore_missing"):
        if not isinstance(table.get(name, False), bool):
            raise ParameterError(f"{where}: {name} = {table[name]!r} is neither true nor false")
    for name in ("name", "split", "metric"):
        if not isinstance(table.get(name, ""), str):
            raise ParameterError(f"{where}: {name} = {table[name]!r} is no text")
    folders = table.get("vectors", {})
    folders = table.get("vectors", "")
    if not all(isinstance(one, str) for one in (folders.values() if isinstance(folders, Mapping) else [folders])):
        raise ParameterError(f"{where}: vectors = {folders!r}: give a folder, or a table of models and folders")


def _names_of_models(named: Any, where: str) -> list[str]:
    """A name of a model or a list of them, as a list."""
    models = named if isinstance(named, list) else [named]
    if not all(isinstance(model, str) for model in models):
        raise ParameterError(f"{where}: model = {models!r}: give names of models")
    return models


def _beside(path: Path, name: str) -> str:
    """A path of the file as seen from here; what is no path beside it stays a name."""
    beside = path.parent / name
    return str(beside) if beside.exists() or ("/" in name and beside.parent.is_dir()) else name


def _some(cells: list[StudyCell]) -> list[StudyCell]:
    if not cells:
        raise ParameterError("a study needs at least one task")
    return cells
