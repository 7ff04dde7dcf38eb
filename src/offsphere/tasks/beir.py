"""BEIR folders: corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv (Thakur et al. 2021, arXiv:2104.08663)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from offsphere.errors import DataError
from offsphere.tasks.qrels import find_qrels, read_qrels
from offsphere.tasks.ranking import Listed, RankingTask
from offsphere.tasks.tables import json_lines


def is_beir(folder: Path) -> bool:
    """Whether a folder has the layout."""
    return (folder / "corpus.jsonl").is_file() and (folder / "queries.jsonl").is_file()


def load_beir(folder: Path, split: str | None = None, *, ignore_missing: bool = False) -> RankingTask:
    """Read a folder; documents are title and text."""
    qrels, chosen = find_qrels(folder, split)
    return RankingTask.build(
        folder.resolve().name,
        read_texts(folder / "queries.jsonl"),
        read_texts(folder / "corpus.jsonl"),
        read_qrels(qrels),
        split=chosen,
        ignore_missing=ignore_missing,
    )


def read_texts(path: Path) -> Listed:
    """Ids and texts of a BEIR file."""
    ids, texts = [], []
    for line, entry in json_lines(path):
        name = entry.get("_id", entry.get("id"))
        if name is None:
            raise DataError(f"{path}:{line}: there is no _id")
        ids.append(str(name))
        texts.append(text_of(entry, f"{path}:{line}"))
    return Listed(ids, texts, str(path))


def text_of(entry: dict[str, Any], place: str) -> str:
    """Title and text joined by a space, as BEIR's own models see a document."""
    parts = [entry.get("title") or "", entry.get("text") or ""]
    for part in parts:
        if not isinstance(part, str):
            raise DataError(f"{place}: a text is of type {type(part).__name__}, expected a string")
    return " ".join(part for part in parts if part)
