"""BEIR folders: corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv (Thakur et al. 2021, arXiv:2104.08663)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from offsphere.base.files import write_whole
from offsphere.base.reading.file_access import is_there
from offsphere.base.reading.tables import json_lines
from offsphere.data.answered_task import AnsweredTask
from offsphere.data.family import ANSWERS
from offsphere.data.formats.corpus_files import has_corpus, read_corpus, read_entries
from offsphere.data.formats.format import Format, Source
from offsphere.data.formats.qrels import MADE, find_qrels, made_file, qrels_splits, qrels_table, read_made, read_qrels
from offsphere.data.formats.query_fields import read_query_fields
from offsphere.data.grouping import Grouping
from offsphere.data.items import ItemList
from offsphere.data.ranking_task import RankingTask


def is_beir(folder: Path) -> bool:
    """Whether a folder has both documents and queries."""
    return has_corpus(folder) and is_there(folder / "queries.jsonl")


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
        read_corpus(folder),
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
    return read_entries(((f"{path}:{number}", entry) for number, entry in json_lines(path)), str(path))


def json_line(row: dict[str, str]) -> str:
    """An entry of a corpus, or of queries, as the line of a file."""
    return json.dumps(row, ensure_ascii=False) + "\n"


def _write_lines(path: Path, rows: Iterable[dict[str, str]]) -> None:
    write_whole(path, "".join(map(json_line, rows)).encode("utf-8", "replace"))


FORMAT = Format("a BEIR folder (corpus.jsonl, queries.jsonl, qrels/)", is_beir, load_beir, qrels_splits)
