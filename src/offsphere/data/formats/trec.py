"""TREC files: topics (SGML or tab-separated), qrels, and a collection as TSV or JSON lines, or ids alone."""

from __future__ import annotations

import re
from pathlib import Path

from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import is_there
from offsphere.base.reading.tables import text_lines
from offsphere.data.formats.corpus_files import has_corpus, read_corpus
from offsphere.data.formats.format import Format, Source
from offsphere.data.formats.qrels import find_qrels, qrels_splits, read_qrels
from offsphere.data.formats.qrels_alone import given_documents, listed_ids
from offsphere.data.items import ItemList
from offsphere.data.ranking_task import RankingTask

_TOPIC = re.compile(r"<top>(.*?)</top>", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"<num>\s*(?:Number:)?\s*([^\s<]+)", re.IGNORECASE)
_TITLE = re.compile(r"<title>\s*(?:Topic:)?\s*(.*?)\s*(?=<|\Z)", re.DOTALL | re.IGNORECASE)


def has_topics(path: Path) -> bool:
    """Whether a folder has a file of topics."""
    return bool(_topic_files(path))


def load_trec(source: Source) -> RankingTask:
    """Read a folder of TREC files; vectors or ids name the documents where it has no collection of its own."""
    folder = source.path
    qrels, split = find_qrels(folder, source.split)
    files = _topic_files(folder)
    topics = next((path for path in files if split is not None and split in path.name.split(".")), files[0])
    collection = _collection(folder) or listed_ids("documents", folder, source.vectors) or given_documents(source)
    if collection is None:
        raise DataError(
            f"{folder} lists no documents: add corpus.jsonl, collection.tsv or documents.ids (an id a line)"
        )
    return RankingTask.build(
        folder.resolve().name,
        read_topics(topics),
        collection,
        read_qrels(qrels),
        split=split,
        ignore_missing=source.ignore_missing,
    )


def read_topics(path: Path) -> ItemList:
    """Ids and titles: ``<top> <num> 301 <title> ...`` or ``301<TAB>text``."""
    content = "\n".join(line for _, line in text_lines(path))
    if "<top>" not in content.lower():
        return _tab_separated(path)
    ids, titles = [], []
    for topic_number, topic in enumerate(_TOPIC.findall(content), 1):
        name, title = _NUMBER.search(topic), _TITLE.search(topic)
        if name is None or title is None:
            raise DataError(f"{path}: topic {topic_number} has no {'<num>' if name is None else '<title>'}")
        ids.append(name.group(1))
        titles.append(" ".join(title.group(1).split()))
    return ItemList(ids, titles, str(path))


def _topic_files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("topics*")) if not path.is_dir()] if folder.is_dir() else []


def _collection(folder: Path) -> ItemList | None:
    if has_corpus(folder):
        return read_corpus(folder)
    return _tab_separated(folder / "collection.tsv") if is_there(folder / "collection.tsv") else None


def _tab_separated(path: Path) -> ItemList:
    ids, texts = [], []
    for line_number, line in text_lines(path):
        name, tab, text = line.partition("\t")
        if not tab:
            raise DataError(f"{path}:{line_number}: expected an id, a tab and a text")
        ids.append(name.strip())
        texts.append(text.strip())
    return ItemList(ids, texts, str(path))


FORMAT = Format("TREC files (topics, qrels)", has_topics, load_trec, qrels_splits)
