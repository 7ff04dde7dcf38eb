"""BEIR folders: corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv (Thakur et al. 2021, arXiv:2104.08663)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from offsphere.base.errors import DataError
from offsphere.base.files import write_whole
from offsphere.base.reading.tables import json_lines
from offsphere.data.answered_task import AnsweredTask
from offsphere.data.family import ANSWERS
from offsphere.data.formats.format import Format, Source
from offsphere.data.formats.qrels import MADE, find_qrels, made_file, qrels_splits, qrels_table, read_made, read_qrels
from offsphere.data.formats.query_fields import read_query_fields
from offsphere.data.grouping import Grouping
from offsphere.data.items import ItemList
from offsphere.data.ranking_task import RankingTask


def is_beir(folder: Path) -> bool:
    """Whether a folder has both documents and queries."""
    return (folder / "corpus.jsonl").is_file() and (folder / "queries.jsonl").is_file()


def load_beir(source: Source) -> RankingTask:
    """Read a folder; a document is its title and its text."""
    folder = source.path
    qrels, split = find_qrels(folder, source.split)
    queries = read_texts(folder / "queries.jsonl")
    answers, groups = read_query_fields(folder / "queries.jsonl")
    kind = RankingTask if answers is None else AnsweredTask
    task = kind.build(
        folder.resolve().name,
        queries,
        read_texts(folder / "corpus.jsonl"),
        read_qrels(qrels),
        split=split,
        ignore_missing=source.ignore_missing,
        made=read_made(folder),
        groups=groups,
    )
    return _with_answers(task, dict(zip(queries.ids, answers, strict=True))) if answers is not None else task


def _with_answers(task: RankingTask, answers: Mapping[str, Sequence[str]]) -> RankingTask:
    """The task with the answers to its queries, grouped also by how many passages support a query: its hops."""
    hops = [str(count) for count in task.judgments.relevant.tolist()]
    groups = [*task.groups, *([Grouping("hops", hops)] if len({*hops}) > 1 else [])]
    return replace(
        cast("AnsweredTask", task), answers=[answers[name] for name in task.query_ids], groups=groups, family=ANSWERS
    )


def write_beir(
    folder: Path,
    documents: Iterable[tuple[str, str, str]],
    queries: Iterable[tuple[str, str]],
    judgments: Mapping[str, Iterable[tuple[str, str]]],
    made: str,
) -> None:
    """Write documents (id, title, text), queries (id, text) and each split's relevant (query, document) pairs."""
    _write_lines(folder / "corpus.jsonl", ({"_id": d, "title": title, "text": text} for d, title, text in documents))
    _write_lines(folder / "queries.jsonl", ({"_id": q, "text": text} for q, text in queries))
    for split, pairs in judgments.items():
        write_whole(folder / "qrels" / f"{split}.tsv", qrels_table(pairs))
    write_whole(folder / MADE, made_file(made))


def read_texts(path: Path) -> ItemList:
    """The ids and texts of a corpus or of queries in JSON lines."""
    ids, texts = [], []
    for line_number, entry in json_lines(path):
        where = f"{path}:{line_number}"
        ids.append(id_of(entry, where))
        texts.append(text_of(entry, where))
    return ItemList(ids, texts, str(path))


def id_of(entry: dict[str, Any], where: str) -> str:
    """The id of an entry, called ``_id`` or ``id``."""
    name = entry.get("_id", entry.get("id"))
    if name is None:
        raise DataError(f"{where}: there is no _id")
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise DataError(f"{where}: the _id is {name!r}: ids are texts or whole numbers")
    return str(name)


def text_of(entry: dict[str, Any], where: str) -> str:
    """Title and text joined by a space, as BEIR's own models see a document."""
    given = [entry[name] for name in ("title", "text") if entry.get(name) is not None]
    if not given:
        raise DataError(f'{where}: there is neither a text nor a title (an empty one would be "")')
    for part in given:
        if not isinstance(part, str):
            raise DataError(f"{where}: a text is of type {type(part).__name__}, expected a string")
    return " ".join(part for part in given if part)


def json_line(row: dict[str, str]) -> str:
    """An entry of a corpus, or of queries, as the line of a file."""
    return json.dumps(row, ensure_ascii=False) + "\n"


def _write_lines(path: Path, rows: Iterable[dict[str, str]]) -> None:
    write_whole(path, "".join(map(json_line, rows)).encode("utf-8", "replace"))


FORMAT = Format("a BEIR folder (corpus.jsonl, queries.jsonl, qrels/)", is_beir, load_beir, qrels_splits)
