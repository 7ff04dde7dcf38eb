"""TREC files: topics (SGML or tab-separated), qrels, and a collection as TSV or JSON lines, or ids alone."""

from __future__ import annotations

import re
from pathlib import Path

from offsphere.base.errors import DataError
from offsphere.base.tables import text_lines
from offsphere.data.formats.beir import read_texts
from offsphere.data.formats.qrels import find_qrels, read_qrels
from offsphere.data.ranking_task import ItemList, RankingTask

_TOPIC = re.compile(r"<top>(.*?)</top>", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"<num>\s*(?:Number:)?\s*([^\s<]+)", re.IGNORECASE)
_TITLE = re.compile(r"<title>\s*(?:Topic:)?\s*(.*?)\s*(?=<|\Z)", re.DOTALL | re.IGNORECASE)


def find_topics(folder: Path, split: str | None = None) -> Path | None:
    """The topics file of a folder, if it has one: that of the split where there are several."""
    found = [path for path in sorted(folder.glob("topics*")) if path.is_file()]
    wanted = [path for path in found if split is not None and split in path.name.split(".")]
    return next(iter([*wanted, *found]), None)


def load_trec(
    folder: Path, split: str | None = None, *, ignore_missing: bool = False, documents: ItemList | None = None
) -> RankingTask:
    """Read a folder of TREC files; ``documents`` are used where it has no collection of its own."""
    qrels, chosen = find_qrels(folder, split)
    topics = find_topics(folder, chosen)
    if topics is None:
        raise DataError(f"{folder} has no topics file")
    collection = _collection(folder) or documents
    if collection is None:
        raise DataError(
            f"{folder} lists no documents: add corpus.jsonl, collection.tsv or documents.ids (an id a line)"
        )
    return RankingTask.build(
        folder.resolve().name,
        read_topics(topics),
        collection,
        read_qrels(qrels),
        split=chosen,
        ignore_missing=ignore_missing,
    )


def read_topics(path: Path) -> ItemList:
    """Ids and titles: ``<top> <num> 301 <title> ...`` or ``301<TAB>text``."""
    content = "\n".join(line for _, line in text_lines(path))
    if "<top>" not in content.lower():
        return _tab_separated(path)
    ids, texts = [], []
    for number, topic in enumerate(_TOPIC.findall(content), 1):
        name, title = _NUMBER.search(topic), _TITLE.search(topic)
        if name is None or title is None:
            raise DataError(f"{path}: topic {number} has no {'<num>' if name is None else '<title>'}")
        ids.append(name.group(1))
        texts.append(" ".join(title.group(1).split()))
    return ItemList(ids, texts, str(path))


def _collection(folder: Path) -> ItemList | None:
    if (folder / "corpus.jsonl").is_file():
        return read_texts(folder / "corpus.jsonl")
    return _tab_separated(folder / "collection.tsv") if (folder / "collection.tsv").is_file() else None


def _tab_separated(path: Path) -> ItemList:
    ids, texts = [], []
    for number, line in text_lines(path):
        name, tab, text = line.partition("\t")
        if not tab:
            raise DataError(f"{path}:{number}: expected an id, a tab and a text")
        ids.append(name.strip())
        texts.append(text.strip())
    return ItemList(ids, texts, str(path))
