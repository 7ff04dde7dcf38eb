"""Tasks from the Hugging Face hub, in the same layouts as the files: BEIR's configurations, or an STS table.

Only data is read: ``datasets`` runs no code from a repository.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from offsphere.base.errors import DataError, NoSuchSplitError, first_line
from offsphere.base.reading.tables import number
from offsphere.data.formats.corpus_files import id_of, text_of
from offsphere.data.formats.format import Source
from offsphere.data.formats.picture_tables import labelled_of_tables, picture_column, task_of_tables
from offsphere.data.formats.sts import COLUMNS
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgment
from offsphere.data.labelled import LabelledItems
from offsphere.data.pair_task import PairTask
from offsphere.data.ranking_task import RankingTask
from offsphere.data.task import Task

JUDGED = ("query-id", "corpus-id", "score")  # the columns of judgments
PREFERRED = ("test", "dev", "validation")  # of the splits there are, when nobody names one


def is_hub_name(name: str) -> bool:
    """Whether this could be ``org/name``, and is no path that somebody mistyped."""
    return name.count("/") == 1 and not name.startswith((".", "/", "~"))


def load_hub(name: str, source: Source) -> Task:
    """Read ``org/name``. Judgments are a configuration (qrels or default), or ``org/name-qrels`` as BEIR has them.

    A table with a column of pictures becomes a task of its captions, or of its classes.
    """
    configurations = _configurations(name)
    if {"corpus", "queries"} <= set(configurations):
        return _load_beir(name, configurations, source.split, ignore_missing=source.ignore_missing)
    tables = _splits(name, None)
    if any(picture_column(table) for table in tables.values()):
        return task_of_tables(name, tables, source)
    return _load_sts(name, tables, source.split)


def load_hub_labelled(name: str, source: Source) -> LabelledItems:
    """Read the pictures of ``org/name`` and their classes."""
    _configurations(name)
    return labelled_of_tables(name, _splits(name, None), source)


def _configurations(name: str) -> list[str]:
    """The configurations of a data set; an error where there is none of that name."""
    try:
        from datasets import get_dataset_config_names
    except ImportError as error:
        raise DataError(
            f"{name!r} is no folder here; if it is a data set on the Hugging Face hub: pip install 'offsphere[hub]'"
        ) from error
    try:
        return list(get_dataset_config_names(name))
    except Exception as error:  # datasets raises a different kind for every way not to find something
        raise DataError(
            f"{name!r} is neither a folder here nor a data set that can be reached on the hub "
            f"({type(error).__name__}): check the name and the connection, or give a folder"
        ) from error


def _load_beir(name: str, configurations: list[str], split: str | None, *, ignore_missing: bool) -> RankingTask:
    judged_in = next((config for config in ("qrels", "default") if config in configurations), None)
    judged = _splits(name, judged_in) if judged_in else _splits(f"{name}-qrels", None)
    chosen = _choose(name, list(judged), split)
    judgments = (_judgment(entry, f"{name}/{chosen} row {row}") for row, entry in enumerate(judged[chosen]))
    queries, corpus = (_read_items(f"{name}/{config}", _splits(name, config)) for config in ("queries", "corpus"))
    return RankingTask.build(name, queries, corpus, judgments, split=chosen, ignore_missing=ignore_missing)


def _load_sts(name: str, tables: dict[str, Any], split: str | None) -> PairTask:
    chosen = _choose(name, list(tables), split)
    table = tables[chosen]
    missing = [column for column in COLUMNS if column not in table.column_names]
    if missing:
        raise DataError(
            f"{name} has neither the configurations corpus and queries (a ranking task) nor the columns "
            f"{', '.join(COLUMNS)} (pairs)"
        )
    gold = [number(str(score), f"{name}/{chosen} row {row}", "score") for row, score in enumerate(table["score"])]
    left, right = (
        [_text(text, f"{name}/{chosen} row {row}") for row, text in enumerate(table[side])] for side in COLUMNS[1:]
    )
    return PairTask(name, np.array(gold), left, right, chosen)


def _judgment(entry: Mapping[str, Any], where: str) -> Judgment:
    """A judgment as a table of the hub has it; its columns have the names that BEIR gave them."""
    lacking = [column for column in JUDGED if entry.get(column) is None]
    if lacking:
        raise DataError(f"{where}: {lacking[0]!r} is missing: judgments have {', '.join(JUDGED)}")
    query, document, grade = (entry[column] for column in JUDGED)
    return Judgment(
        id_of({"_id": query}, where), id_of({"_id": document}, where), number(str(grade), where, "score"), where
    )


def _text(text: Any, where: str) -> str:
    """A text of a pair, which must be one."""
    if not isinstance(text, str):
        raise DataError(f"{where}: a text is of type {type(text).__name__}, expected a string")
    return text


def _splits(name: str, configuration: str | None) -> dict[str, Any]:
    """The tables of a data set, or of one configuration of it, by their split."""
    from datasets import load_dataset

    try:
        return dict(load_dataset(name, configuration))
    except Exception as error:  # datasets raises a different kind for every way not to find something
        part = f"{name} ({configuration})" if configuration else name
        raise DataError(f"{part} cannot be loaded from the hub: {first_line(error)}") from error


def _choose(name: str, splits: list[str], split: str | None) -> str:
    if split is not None and split not in splits:
        raise NoSuchSplitError(f"{name} has no split {split!r}: there are {', '.join(splits)}")
    return split or next((preferred for preferred in PREFERRED if preferred in splits), splits[0])


def _read_items(source: str, splits: dict[str, Iterable[dict[str, Any]]]) -> ItemList:
    """The ids and texts of a configuration, whatever its one split is called."""
    ids, texts = [], []
    for entries in splits.values():
        for row, entry in enumerate(entries):
            ids.append(id_of(entry, f"{source} row {row}"))
            texts.append(text_of(entry, f"{source} row {row}"))
    return ItemList(ids, texts, source)
