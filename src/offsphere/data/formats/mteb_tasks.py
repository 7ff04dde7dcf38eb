"""Tasks of MTEB, where that package is installed: ``mteb:SciFact``, and the tasks of one of its benchmarks by name.

Its own task objects load the data, from the hub or from wherever they have it; retrieval, reranking and STS are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from offsphere.base.errors import DataError, NoSuchSplitError, first_line
from offsphere.base.extras import load_extra
from offsphere.data.formats.corpus_files import id_of, text_of
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgment
from offsphere.data.pair_task import PairTask
from offsphere.data.ranking_task import RankingTask
from offsphere.data.task import Task

PREFIX, SUITE = "mteb:", "mteb-suite:"
KINDS = ("Retrieval", "STS")  # of MTEB's types, those that are tasks here


def is_mteb_name(name: str) -> bool:
    """Whether somebody asks for a task of MTEB."""
    return name.startswith(PREFIX)


def load_mteb(name: str, split: str | None = None, *, ignore_missing: bool = False) -> Task:
    """Read a task of MTEB by its name there, and perhaps one subset of it: ``mteb:SciFact``, ``mteb:STS17/en-en``.

    Raises:
        MissingExtraError: MTEB is not installed.
        DataError: It has no such task, cannot load it, or it is of a kind that is no task here.
    """
    mteb = load_extra("mteb")
    wanted, _, subset = name.removeprefix(PREFIX).partition("/")
    try:
        task = mteb.get_task(wanted)
    except KeyError as error:
        raise DataError(f"MTEB has no task {wanted!r}: {first_line(error)[:120]}") from error
    try:
        task.load_data()
    except Exception as error:  # a loader raises whatever the hub, the network or its own code does
        raise DataError(f"MTEB cannot load {wanted}: {type(error).__name__}: {first_line(error)[:160]}") from error
    return task_of_mteb(task, split, subset or None, ignore_missing=ignore_missing)


def task_of_mteb(
    task: Any, split: str | None = None, subset: str | None = None, *, ignore_missing: bool = False
) -> Task:
    """Turn a task object of MTEB, with its data loaded, into a task.

    Args:
        task: Of retrieval, reranking or STS.
        split: Which judgments; the first of those that MTEB evaluates unless said.
        subset: Which subset, such as a language; the only one unless said.
        ignore_missing: Go on without judgments for queries or documents that are not listed.

    Returns:
        The task, named as MTEB names it.

    Raises:
        DataError: Its data was not loaded, or it is of another kind.
        NoSuchSplitError: It has no such split or subset.
    """
    name, tables = str(task.metadata.name), task.dataset
    if not tables:
        raise DataError(f"MTEB's {name} has no data yet: call its load_data() first")
    if all("corpus" in part for tables_of in tables.values() for part in [*_parts(tables_of).values()][:1]):
        chosen = _pick(name, "subset", list(tables), subset)
        parts = tables[chosen]
        at = _pick(name, "split", list(parts), split, [each for each in task.metadata.eval_splits if each in parts])
        return _ranking(name, parts[at], at, ignore_missing=ignore_missing)
    if not hasattr(task, "column_names") or not isinstance(task.column_names[0], str):
        raise DataError(f"MTEB's {name} is of type {task.metadata.type}: only {' and '.join(KINDS)} are read")
    nested = {key: part for key, part in tables.items() if isinstance(part, Mapping)}
    parts = nested[_pick(name, "subset", list(nested), subset)] if nested else tables
    at = _pick(name, "split", list(parts), split, [each for each in task.metadata.eval_splits if each in parts])
    table, (left, right) = parts[at], task.column_names
    return PairTask(name, np.asarray(table["score"], np.float64), list(table[left]), list(table[right]), at)


def suite_tasks(name: str) -> list[str]:
    """The tasks of one of MTEB's benchmarks that are tasks here, as ``load_mteb`` takes them.

    Raises:
        DataError: MTEB has no such benchmark, or none of its tasks can be read.
    """
    mteb = load_extra("mteb")
    wanted = name.removeprefix(SUITE)
    try:
        benchmark = mteb.get_benchmark(wanted)
    except Exception as error:
        raise DataError(f"MTEB has no benchmark {wanted!r}: {first_line(error)[:120]}") from error
    names = [f"{PREFIX}{task.metadata.name}" for task in benchmark.tasks if task.metadata.type in KINDS]
    if not names:
        raise DataError(f"MTEB's benchmark {wanted} has no task of {' or '.join(KINDS)}")
    return names


def _parts(tables: Any) -> Mapping[str, Any]:
    return tables if isinstance(tables, Mapping) else {"": ()}


def _ranking(name: str, part: Mapping[str, Any], split: str, *, ignore_missing: bool) -> RankingTask:
    where = f"{name} ({split})"
    queries, documents = (
        ItemList(
            [id_of(entry, f"{where} row {row}") for row, entry in enumerate(part[side])],
            [text_of(entry, f"{where} row {row}") for row, entry in enumerate(part[side])],
            where,
        )
        for side in ("queries", "corpus")
    )
    judged = [
        Judgment(str(query), str(document), float(grade), where)
        for query, grades in part["relevant_docs"].items()
        for document, grade in grades.items()
    ]
    return RankingTask.build(name, queries, documents, judged, split=split, ignore_missing=ignore_missing)


def _pick(name: str, what: str, there: list[str], wanted: str | None, preferred: list[str] | None = None) -> str:
    """The part that is asked for, the first of those preferred, or the only one."""
    if wanted is not None:
        if wanted not in there:
            raise NoSuchSplitError(f"MTEB's {name} has no {what} {wanted!r}: there are {', '.join(there)}")
        return wanted
    if preferred:
        return preferred[0]
    if len(there) > 1:
        raise NoSuchSplitError(f"MTEB's {name} has several {what}s ({', '.join(there)}): say which, mteb:{name}/NAME")
    return there[0]
